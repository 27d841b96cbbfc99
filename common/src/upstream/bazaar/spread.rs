//! Spreads, computed in the same way from live and recorded prices.

/// Returns the spread between the averages: `buy_price - sell_price`, not rounded.
#[must_use]
pub const fn spread(sell_price: f64, buy_price: f64) -> f64 {
    finite(buy_price - sell_price)
}

/// Returns the spread in per cent of the sell price; 0 if the sell price is 0.
#[must_use]
pub fn spread_percent(sell_price: f64, buy_price: f64) -> f64 {
    if sell_price == 0.0 { 0.0 } else { finite(spread(sell_price, buy_price) / sell_price * 100.0) }
}

/// Returns the nearest finite number, because JSON has no infinity. Only absurd prices give an infinite
/// spread, but even then the response must be valid JSON.
const fn finite(number: f64) -> f64 {
    number.clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_two_prices_have_a_finite_spread(sell in any::<f64>(), buy in any::<f64>()) {
            prop_assume!(sell.is_finite() && buy.is_finite());
            prop_assert!(spread(sell, buy).is_finite());
            prop_assert!(spread_percent(sell, buy).is_finite());
        }
    }
}
