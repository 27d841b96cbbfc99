//! The Lambda binary of `collections`.

use common::lambda::provider_route::ProviderHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<collections::Collections>>()
}
