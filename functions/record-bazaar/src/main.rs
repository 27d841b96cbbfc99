//! The Lambda binary of `record-bazaar`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_bazaar::RecordBazaar>().await
}
