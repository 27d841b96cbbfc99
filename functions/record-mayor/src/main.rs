//! The Lambda binary of `record-mayor`.

fn main() -> Result<(), common::lambda::Error> {
    recorder::run_recorder::<record_mayor::RecordMayor>()
}
