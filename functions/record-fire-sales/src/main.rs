//! The Lambda binary of `record-fire-sales`.

fn main() -> Result<(), common::lambda::Error> {
    recorder::run_recorder::<record_fire_sales::RecordFireSales>()
}
