//! The Lambda binary of `bazaar-candles`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<handlers::CandlePagesHandler<bazaar_candles::BazaarCandles>>()
}
