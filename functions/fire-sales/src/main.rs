//! The Lambda binary of `fire-sales`.

use common::lambda::provider_route::ProviderHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<fire_sales::FireSales>>()
}
