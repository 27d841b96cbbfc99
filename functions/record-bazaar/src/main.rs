//! The Lambda binary of `record-bazaar`.

fn main() -> Result<(), common::lambda::Error> {
    recorder::run_recorder::<record_bazaar::RecordBazaar>()
}
