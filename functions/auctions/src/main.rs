//! The Lambda binary of `auctions`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions::Auctions>().await
}
