//! The Lambda binary of `bazaar-candles`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar_candles::BazaarCandles>()
}
