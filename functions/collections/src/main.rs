//! The Lambda binary of `collections`.

use common::provider_route::ProviderHandler;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<collections::Collections>>().await
}
