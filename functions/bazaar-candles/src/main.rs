//! The Lambda binary of `bazaar-candles`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar_candles::BazaarCandles>().await
}
