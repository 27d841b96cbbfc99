//! The Lambda binary of `record-candles`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_candles::RecordCandles>().await
}
