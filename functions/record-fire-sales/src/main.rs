//! The Lambda binary of `record-fire-sales`.

fn main() -> Result<(), common::lambda::Error> {
    tables::run_recorder::<record_fire_sales::RecordFireSales>()
}
