//! The Lambda binary of `record-auctions`.

fn main() -> Result<(), common::lambda::Error> {
    recorder::run_recorder::<record_auctions::RecordAuctions>()
}
