//! The Lambda binary of `items`.

use common::provider_route::ProviderHandler;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<items::Items>>().await
}
