//! The Lambda binary of `authorizer`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run_authorizer::<authorizer::KeyAuthorizer>().await
}
