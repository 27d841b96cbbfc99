//! The Lambda binary of `mayor`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<mayor::Mayor>().await
}
