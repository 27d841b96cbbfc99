//! A product with its spread: what is left of buying one by order and selling it by offer.

use common::upstream::bazaar::{Product, QuickStatus};
use serde::Serialize;

/// A processed item (`interface.md`, part 2). Prices are in coins and not rounded, volumes in items.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessedItem<'a> {
    /// The product's id.
    pub id: &'a str,
    /// What one item brings when sold at once.
    pub sell_price: f64,
    /// What one item costs when bought at once.
    pub buy_price: f64,
    /// How many items the open buy orders want.
    pub sell_volume: i64,
    /// How many items the open sell offers hold.
    pub buy_volume: i64,
    /// `buyPrice - sellPrice`.
    pub spread: f64,
    /// The spread in per cent of `sellPrice`; 0 when that is 0.
    pub spread_percent: f64,
    /// How many items were sold at once in seven days.
    pub sell_moving_week: i64,
    /// How many items were bought at once in seven days.
    pub buy_moving_week: i64,
}

impl<'a> ProcessedItem<'a> {
    /// The item that `product` is.
    #[must_use]
    pub fn of(product: &'a Product) -> Self {
        let QuickStatus { sell_price, buy_price, sell_volume, buy_volume, sell_moving_week, buy_moving_week } =
            product.status;
        Self {
            id: &product.id,
            sell_price,
            buy_price,
            sell_volume,
            buy_volume,
            spread: spread(sell_price, buy_price),
            spread_percent: spread_percent(sell_price, buy_price),
            sell_moving_week,
            buy_moving_week,
        }
    }
}

fn spread(sell_price: f64, buy_price: f64) -> f64 {
    finite(buy_price - sell_price)
}

/// The spread of these prices in per cent of the sell price, 0 when that is 0 (`decisions.md`).
pub(crate) fn spread_percent(sell_price: f64, buy_price: f64) -> f64 {
    if sell_price == 0.0 { 0.0 } else { finite(spread(sell_price, buy_price) / sell_price * 100.0) }
}

/// JSON has no infinity, and no market has prices that get there; a body that does must still give numbers.
const fn finite(number: f64) -> f64 {
    number.clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "nothing is rounded, so results are equal to the last bit")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_spread_is_what_is_left_and_never_rounded(sell in 0.1..5e8, buy in 0.1..5e8) {
            prop_assert_eq!(spread(sell, buy), buy - sell);
            prop_assert_eq!(spread_percent(sell, buy), (buy - sell) / sell * 100.0);
        }

        #[test]
        fn any_two_prices_have_a_spread_that_json_can_hold(sell in any::<f64>(), buy in any::<f64>()) {
            prop_assume!(sell.is_finite() && buy.is_finite());
            prop_assert!(spread(sell, buy).is_finite());
            prop_assert!(spread_percent(sell, buy).is_finite());
        }

        #[test]
        fn without_a_sell_price_there_is_no_percentage(buy in 0.0..5e8) {
            prop_assert_eq!(spread_percent(0.0, buy), 0.0);
            prop_assert_eq!(spread_percent(-0.0, buy), 0.0);
        }
    }
}
