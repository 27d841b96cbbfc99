//! The Lambda binary of `fire-sales-history`.

use tables::HistoryListHandler;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<HistoryListHandler<fire_sales_history::FireSalesHistory>>().await
}
