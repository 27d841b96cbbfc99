//! The prices and volumes of products at one tick, and their form in rows.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::slice::Iter;
use std::str::FromStr;

use super::numbers::{Number, Numbers, trimmed};
use crate::row::Value;
use aws_sdk_dynamodb::types::AttributeValue;
use common::request::parameters::ItemId;
use common::upstream::bazaar::HIGHEST_PRICE;

/// A price in coins, rounded to 0.01.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Price(f64);

impl Price {
    /// The highest valid price. No purse in the game holds as much, and floating-point numbers below it are
    /// exact enough for hundredths.
    pub const HIGHEST: f64 = HIGHEST_PRICE;

    /// Returns the nearest price. `None` if `coins` is negative, above the highest price, or not a number.
    #[must_use]
    pub fn nearest(coins: f64) -> Option<Self> {
        let is_price = (0.0..=Self::HIGHEST).contains(&coins);
        // Nearly all prices in rows are already rounded.
        let hundredths = (coins * 100.0).round() / 100.0;
        if is_price && coins > 0.0 && hundredths.to_bits() == coins.to_bits() {
            return Some(Self(coins));
        }
        // Rounds in decimal digits, as in rows. Adding 0 turns -0 into 0.
        is_price.then(|| format!("{coins:.2}").parse().ok().map(|coins: f64| Self(coins + 0.0))).flatten()
    }

    #[must_use]
    pub const fn coins(self) -> f64 {
        self.0
    }

    pub(super) fn is_positive(self) -> bool {
        self.0 > 0.0
    }
}

impl Hash for Price {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The prices and volumes of a product at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quote {
    /// The average price of buy orders; 0 without buy orders.
    pub sell_price: Price,
    /// The average price of sell offers; 0 without sell offers.
    pub buy_price: Price,
    /// The number of items in open buy orders.
    pub sell_volume: i64,
    /// The number of items in open sell offers.
    pub buy_volume: i64,
    /// The price of the best buy order, which is never 0; `None` without valid buy orders, or if it is
    /// unknown.
    pub buy_order: Option<Price>,
    /// The price of the best sell offer, which is never 0; `None` without valid sell offers, or if it is
    /// unknown.
    pub sell_offer: Option<Price>,
    /// The number of items sold instantly in the last seven days; `None` if it is unknown.
    pub sell_moving_week: Option<i64>,
    /// The number of items bought instantly in the last seven days; `None` if it is unknown.
    pub buy_moving_week: Option<i64>,
}

impl Quote {
    /// Returns the quote with the nearest prices, without best orders and moving weeks. `None` if a price is
    /// invalid or a volume is negative.
    #[must_use]
    pub fn nearest(sell_price: f64, buy_price: f64, sell_volume: i64, buy_volume: i64) -> Option<Self> {
        let are_volumes = sell_volume >= 0 && buy_volume >= 0;
        let (sell_price, buy_price) = (Price::nearest(sell_price)?, Price::nearest(buy_price)?);
        are_volumes.then_some(Self {
            sell_price,
            buy_price,
            sell_volume,
            buy_volume,
            buy_order: None,
            sell_offer: None,
            sell_moving_week: None,
            buy_moving_week: None,
        })
    }

    /// Returns the quote with the best buy order and sell offer, and the moving weeks of sales and purchases.
    /// A best price that is rounded to 0 is left out. `None` if a price is invalid or a moving week is
    /// negative.
    #[must_use]
    pub fn with(
        self,
        [buy_order, sell_offer]: [Option<f64>; 2],
        [sell_moving_week, buy_moving_week]: [Option<i64>; 2],
    ) -> Option<Self> {
        let best = |coins: Option<f64>| match coins {
            Some(coins) => Price::nearest(coins).map(|price| Some(price).filter(|price| price.is_positive())),
            None => Some(None),
        };
        let (buy_order, sell_offer) = (best(buy_order)?, best(sell_offer)?);
        let are_counts = [sell_moving_week, buy_moving_week].iter().flatten().all(|week| *week >= 0);
        are_counts.then_some(Self { buy_order, sell_offer, sell_moving_week, buy_moving_week, ..self })
    }

    /// Returns the prices `sell_price` and `buy_price`, the volumes of both sides, the prices of the best buy
    /// order and sell offer, and the moving weeks of sales and purchases.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        let coins = |price: Option<Price>| price.map(|price| Number::Coins(price.coins()));
        trimmed([
            coins(Some(self.sell_price)),
            coins(Some(self.buy_price)),
            Some(Number::Count(self.sell_volume)),
            Some(Number::Count(self.buy_volume)),
            coins(self.buy_order),
            coins(self.sell_offer),
            self.sell_moving_week.map(Number::Count),
            self.buy_moving_week.map(Number::Count),
        ])
    }

    pub(crate) fn attribute(&self) -> AttributeValue {
        let number = |number: Option<Number>| match number {
            Some(number) => AttributeValue::N(number.to_string()),
            None => AttributeValue::Null(true),
        };
        AttributeValue::L(self.numbers().into_iter().map(number).collect())
    }

    pub(crate) fn of_value(value: &Value<'_>) -> Option<Self> {
        fn next<T: FromStr>(numbers: &mut Iter<'_, Value<'_>>) -> Option<T> {
            numbers.next()?.number()?.parse().ok()
        }
        #[expect(clippy::option_option, reason = "an unknown number is not an invalid one")]
        fn next_known<T: FromStr>(numbers: &mut Iter<'_, Value<'_>>) -> Option<Option<T>> {
            match numbers.next() {
                None | Some(Value::Null(_)) => Some(None),
                Some(number) => number.number()?.parse().ok().map(Some),
            }
        }
        let numbers = &mut value.list()?.iter();
        let quote = Self::nearest(next(numbers)?, next(numbers)?, next(numbers)?, next(numbers)?)?;
        let best = [next_known(numbers)?, next_known(numbers)?];
        let weeks = [next_known(numbers)?, next_known(numbers)?];
        if numbers.next().is_some() { None } else { quote.with(best, weeks) }
    }
}

/// The digest of `data_changed_at` has only the averages and volumes: moving weeks change although nothing is
/// traded.
impl Hash for Quote {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { sell_price, buy_price, sell_volume, buy_volume, .. } = self;
        (sell_price, buy_price, sell_volume, buy_volume).hash(state);
    }
}

/// The quotes of all products at a tick.
pub type Quotes = BTreeMap<ItemId, Quote>;

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;

    fn digest(quote: Quote) -> u64 {
        let mut hasher = DefaultHasher::new();
        quote.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn best_orders_and_moving_weeks_do_not_change_the_digest() {
        let quote = Quote::nearest(1.5, 2.5, 3, 4).unwrap();
        let rolled = quote.with([Some(1.6), None], [Some(5), Some(6)]).unwrap();
        assert!(digest(rolled) == digest(quote) && rolled != quote);
        assert_ne!(digest(Quote::nearest(1.5, 2.5, 3, 5).unwrap()), digest(quote));
    }

    #[test]
    fn a_best_price_is_never_0_and_invalid_numbers_are_no_quote() {
        let quote = Quote::nearest(1.5, 2.5, 3, 4).unwrap();
        let rounded = quote.with([Some(0.004), Some(0.006)], [None; 2]).unwrap();
        assert_eq!((rounded.buy_order, rounded.sell_offer.map(Price::coins)), (None, Some(0.01)));
        for (best, weeks) in [
            ([Some(-1.0), None], [None; 2]),
            ([None, Some(1e13)], [None; 2]),
            ([None; 2], [Some(-1), None]),
            ([None; 2], [None, Some(-1)]),
        ] {
            assert_eq!(quote.with(best, weeks), None);
        }
    }
}
