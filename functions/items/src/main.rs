//! The Lambda binary of `items`.

use common::lambda::provider_route::ProviderHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<items::Items>>()
}
