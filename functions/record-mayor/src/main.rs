//! The Lambda binary of `record-mayor`.

use tables::Recording;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run_recorder::<Recording<record_mayor::RecordMayor>>().await
}
