//! The Lambda binary of `authorizer`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    authorizer::run().await
}
