//! The Lambda binary of `fire-sales-history`.

use tables::Listing;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<Listing<fire_sales_history::FireSalesHistory>>().await
}
