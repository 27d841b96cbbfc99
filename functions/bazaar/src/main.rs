//! The Lambda binary of `bazaar`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar::Bazaar>().await
}
