//! The Lambda binary of `record-mayor`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_mayor::RecordMayor>().await
}
