//! The Lambda binary of `record-mayor`.

fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_mayor::RecordMayor>()
}
