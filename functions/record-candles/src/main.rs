//! The Lambda binary of `record-candles`.

fn main() -> Result<(), common::lambda::Error> {
    recorder::run_recorder::<record_candles::RecordCandles>()
}
