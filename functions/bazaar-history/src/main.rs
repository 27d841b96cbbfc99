//! The Lambda binary of `bazaar-history`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar_history::BazaarHistory>().await
}
