//! The Lambda binary of `record-bazaar`.

use tables::Recording;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run_recorder::<Recording<record_bazaar::RecordBazaar>>().await
}
