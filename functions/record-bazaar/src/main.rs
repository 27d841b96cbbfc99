//! The Lambda binary of `record-bazaar`.

fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_bazaar::RecordBazaar>()
}
