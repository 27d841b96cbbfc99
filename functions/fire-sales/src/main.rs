//! The Lambda binary of `fire-sales`.

use common::resource::Mirror;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<Mirror<fire_sales::FireSales>>().await
}
