//! The prices and volumes of products at one tick, and their form in rows.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::slice::Iter;
use std::str::FromStr;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::parameters::ItemId;
use common::upstream::bazaar::HIGHEST_PRICE;
use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};

use crate::item::number;
use crate::row::Value;

/// A price in coins, rounded to 0.01.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Price(f64);

impl Price {
    /// The highest valid price. No purse in the game holds as much, and floating-point numbers below it are exact
    /// enough for hundredths.
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
}

impl Hash for Price {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The prices and volumes of a product at a tick. It serialises as `[sell_price, buy_price, sell_volume, buy_volume]`.
#[derive(Debug, Clone, Copy, PartialEq, Hash)]
pub struct Quote {
    /// The average price of buy orders; 0 without buy orders.
    pub sell_price: Price,
    /// The average price of sell offers; 0 without sell offers.
    pub buy_price: Price,
    /// The number of items in open buy orders.
    pub sell_volume: i64,
    /// The number of items in open sell offers.
    pub buy_volume: i64,
}

impl Quote {
    /// Returns the quote with the nearest prices. `None` if a price is invalid or a volume is negative.
    #[must_use]
    pub fn nearest(sell_price: f64, buy_price: f64, sell_volume: i64, buy_volume: i64) -> Option<Self> {
        let are_volumes = sell_volume >= 0 && buy_volume >= 0;
        let (sell_price, buy_price) = (Price::nearest(sell_price)?, Price::nearest(buy_price)?);
        are_volumes.then_some(Self { sell_price, buy_price, sell_volume, buy_volume })
    }

    pub(crate) fn attribute(&self) -> AttributeValue {
        AttributeValue::L(vec![
            number(self.sell_price.0),
            number(self.buy_price.0),
            number(self.sell_volume),
            number(self.buy_volume),
        ])
    }

    pub(crate) fn of_value(value: &Value<'_>) -> Option<Self> {
        fn next<T: FromStr>(numbers: &mut Iter<'_, Value<'_>>) -> Option<T> {
            numbers.next()?.number()?.parse().ok()
        }
        let numbers = &mut value.list()?.iter();
        let quote = Self::nearest(next(numbers)?, next(numbers)?, next(numbers)?, next(numbers)?);
        quote.filter(|_| numbers.next().is_none())
    }
}

impl Serialize for Quote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(&self.sell_price)?;
        tuple.serialize_element(&self.buy_price)?;
        tuple.serialize_element(&self.sell_volume)?;
        tuple.serialize_element(&self.buy_volume)?;
        tuple.end()
    }
}

/// The quotes of all products at a tick.
pub type Quotes = BTreeMap<ItemId, Quote>;
