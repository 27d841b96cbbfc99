//! The Lambda binary of `fire-sales`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<fire_sales::FireSales>().await
}
