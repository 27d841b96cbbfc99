//! The Lambda binary of `record-auctions`.

fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_auctions::RecordAuctions>()
}
