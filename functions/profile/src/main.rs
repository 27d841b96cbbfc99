//! The Lambda binary of `profile`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<profile::Profiles>().await
}
