//! The Lambda binary of `fire-sales-history`.

use handlers::HistoryListHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<HistoryListHandler<fire_sales_history::FireSalesHistory>>()
}
