//! The Lambda binary of `fire-sales-history`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<fire_sales_history::FireSalesHistory>().await
}
