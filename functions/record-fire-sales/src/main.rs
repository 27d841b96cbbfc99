//! The Lambda binary of `record-fire-sales`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_fire_sales::RecordFireSales>().await
}
