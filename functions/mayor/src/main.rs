//! The Lambda binary of `mayor`.

use common::lambda::provider_route::ProviderHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<mayor::Mayor>>()
}
