//! The Lambda binary of `page`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<page::Page>().await
}
