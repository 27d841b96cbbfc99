//! The Lambda binary of `mayor`.

use common::provider_route::ProviderHandler;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<ProviderHandler<mayor::Mayor>>().await
}
