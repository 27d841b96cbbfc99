//! The Lambda binary of `record-fire-sales`.

use tables::Recording;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run_recorder::<Recording<record_fire_sales::RecordFireSales>>().await
}
