//! The Lambda binary of `collections`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<collections::Collections>().await
}
