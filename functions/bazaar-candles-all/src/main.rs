//! The Lambda binary of `bazaar-candles-all`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar_candles_all::BazaarCandlesAll>()
}
