//! A candle: how the prices of a product moved during an interval.

use std::collections::BTreeMap;
use std::str::{FromStr, Split};

use aws_sdk_dynamodb::types::AttributeValue;
use common::params::ItemId;
use serde::{Deserialize, Serialize};

use crate::history::bazaar::{Price, Quote};
use crate::history::slots::PRODUCTS;
use crate::item::{Corrupt, string};
use crate::row::Value;

/// The first, highest, lowest and last recorded price of an interval, in coins. A price is 0 while its side has no orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The price at the first recorded minute.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The price at the last recorded minute.
    pub close: Price,
}

/// The prices and volumes of a product during an interval. It serialises as a list: open, high, low and close of the sell price, those
/// of the buy price, `sell_volume`, `buy_volume`, `samples`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "Fields", try_from = "Fields")]
pub struct Candle {
    /// The average prices of buy orders.
    pub sell: Prices,
    /// The average prices of sell offers.
    pub buy: Prices,
    /// The number of items in open buy orders at the last recorded minute.
    pub sell_volume: i64,
    /// The number of items in open sell offers at the last recorded minute.
    pub buy_volume: i64,
    /// The number of recorded minutes.
    pub samples: u32,
}

/// The candles of all products in a slot.
pub type Candles = BTreeMap<ItemId, Candle>;

/// The numbers of a candle in the order of the list.
type Fields = (f64, f64, f64, f64, f64, f64, f64, f64, i64, i64, u32);

impl Prices {
    const fn of(price: Price) -> Self {
        Self { open: price, high: price, low: price, close: price }
    }

    /// Returns the prices. `None` if one is invalid, or if the four contradict each other.
    fn nearest([open, high, low, close]: [f64; 4]) -> Option<Self> {
        let [open, high, low, close] = [open, high, low, close].map(Price::nearest);
        let (open, high, low, close) = (open?, high?, low?, close?);
        let is_inside = |price| low <= price && price <= high;
        (is_inside(open) && is_inside(close)).then_some(Self { open, high, low, close })
    }

    fn followed_by(self, later: Self) -> Self {
        Self {
            open: self.open,
            high: if later.high > self.high { later.high } else { self.high },
            low: if later.low < self.low { later.low } else { self.low },
            close: later.close,
        }
    }

    const fn coins(&self) -> [f64; 4] {
        [self.open.coins(), self.high.coins(), self.low.coins(), self.close.coins()]
    }
}

impl Candle {
    /// The candle of one recorded minute.
    #[must_use]
    pub const fn of(quote: Quote) -> Self {
        let Quote { sell_price, buy_price, sell_volume, buy_volume } = quote;
        let (sell, buy) = (Prices::of(sell_price), Prices::of(buy_price));
        Self { sell, buy, sell_volume, buy_volume, samples: 1 }
    }

    /// Returns the candle of this interval and a later one together.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        Self {
            sell: self.sell.followed_by(later.sell),
            buy: self.buy.followed_by(later.buy),
            sell_volume: later.sell_volume,
            buy_volume: later.buy_volume,
            samples: self.samples.saturating_add(later.samples),
        }
    }

    /// The text that a row holds: the numbers of the list, separated by commas.
    pub(super) fn attribute(&self) -> AttributeValue {
        let prices = self.sell.coins().into_iter().chain(self.buy.coins()).map(|coins| coins.to_string());
        let volumes = [self.sell_volume, self.buy_volume].map(|volume| volume.to_string());
        let numbers: Vec<_> = prices.chain(volumes).chain([self.samples.to_string()]).collect();
        string(numbers.join(","))
    }

    pub(crate) fn of_attribute(value: &AttributeValue) -> Option<Self> {
        Self::of_text(value.as_s().ok()?)
    }

    pub(crate) fn of_value(value: &Value<'_>) -> Option<Self> {
        Self::of_text(value.text()?)
    }

    /// Reads the text in a row.
    fn of_text(text: &str) -> Option<Self> {
        fn next<T: FromStr>(numbers: &mut Split<'_, char>) -> Option<T> {
            numbers.next()?.parse().ok()
        }
        let numbers = &mut text.split(',');
        let candle = Self::try_from((
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
            next(numbers)?,
        ));
        candle.ok().filter(|_| numbers.next().is_none())
    }
}

/// Numbers that are not a candle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a candle must be open, high, low and close of the sell price, the same of the buy price, two volumes of at least 0, and the \
     number of recorded minutes, at least 1; prices must be from 0 to {:e}, and none above high or below low",
    Price::HIGHEST
)]
pub struct InvalidCandle;

impl TryFrom<Fields> for Candle {
    type Error = InvalidCandle;

    fn try_from(fields: Fields) -> Result<Self, InvalidCandle> {
        let (so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples) = fields;
        let (sell, buy) = (Prices::nearest([so, sh, sl, sc]), Prices::nearest([bo, bh, bl, bc]));
        let (Some(sell), Some(buy)) = (sell, buy) else { return Err(InvalidCandle) };
        if sell_volume < 0 || buy_volume < 0 || samples == 0 {
            return Err(InvalidCandle);
        }
        Ok(Self { sell, buy, sell_volume, buy_volume, samples })
    }
}

impl From<Candle> for Fields {
    fn from(candle: Candle) -> Self {
        let Candle { sell, buy, sell_volume, buy_volume, samples } = candle;
        let ([so, sh, sl, sc], [bo, bh, bl, bc]) = (sell.coins(), buy.coins());
        (so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples)
    }
}

/// The error of a row whose map of products is invalid.
pub(super) const fn corrupt_products() -> Corrupt {
    Corrupt::new(PRODUCTS, "a map of candles")
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "nothing is computed, so prices are equal to the last bit")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quote() -> impl Strategy<Value = Quote> {
        let price = || prop_oneof![Just(0.0), 0.01..1e6, Just(Price::HIGHEST)];
        (price(), price(), 0..i64::MAX, 0..1_000_000_i64).prop_map(|(sell, buy, sell_volume, buy_volume)| {
            Quote::nearest(sell, buy, sell_volume, buy_volume).unwrap()
        })
    }

    proptest! {
        /// However the minutes are grouped, the candle of all of them is the same, and equal to a naive computation.
        #[test]
        fn candles_of_parts_make_the_candle_of_the_whole(
            minutes in prop::collection::vec(quote(), 1..40),
            group in 1..12_usize,
        ) {
            let whole = minutes.iter().copied().map(Candle::of).reduce(Candle::followed_by).unwrap();
            let parts = minutes.chunks(group);
            let parts = parts.map(|part| part.iter().copied().map(Candle::of).reduce(Candle::followed_by).unwrap());
            prop_assert_eq!(parts.reduce(Candle::followed_by).unwrap(), whole);

            let sell: Vec<_> = minutes.iter().map(|minute| minute.sell_price.coins()).collect();
            let buy: Vec<_> = minutes.iter().map(|minute| minute.buy_price.coins()).collect();
            let naive = |prices: &[f64]| {
                let high = prices.iter().copied().fold(f64::MIN, f64::max);
                let low = prices.iter().copied().fold(f64::MAX, f64::min);
                [prices[0], high, low, *prices.last().unwrap()]
            };
            prop_assert_eq!(whole.sell.coins(), naive(&sell));
            prop_assert_eq!(whole.buy.coins(), naive(&buy));
            let last = minutes.last().unwrap();
            prop_assert_eq!((whole.sell_volume, whole.buy_volume), (last.sell_volume, last.buy_volume));
            prop_assert_eq!(whole.samples as usize, minutes.len());
        }

        #[test]
        fn any_text_is_a_candle_or_not(text in "[0-9.,eE-]{0,60}") {
            let _ = Candle::of_attribute(&string(text));
        }

        #[test]
        fn a_stored_candle_is_read_back(minutes in prop::collection::vec(quote(), 1..5)) {
            let candle = minutes.into_iter().map(Candle::of).reduce(Candle::followed_by).unwrap();
            prop_assert_eq!(Candle::of_attribute(&candle.attribute()), Some(candle));
            prop_assert_eq!(Candle::try_from(Fields::from(candle)), Ok(candle));
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_are_no_candle() {
        let good: Fields = (2.0, 3.0, 1.0, 2.0, 2.0, 3.0, 1.0, 2.0, 5, 6, 60);
        assert!(Candle::try_from(good).is_ok());
        let spoilt = [
            |fields: &mut Fields| fields.0 = 3.5,
            |fields: &mut Fields| fields.3 = 0.5,
            |fields: &mut Fields| fields.5 = 1.5,
            |fields: &mut Fields| fields.7 = -1.0,
            |fields: &mut Fields| fields.1 = f64::NAN,
            |fields: &mut Fields| fields.8 = -1,
            |fields: &mut Fields| fields.10 = 0,
        ];
        for spoil in spoilt {
            let mut bad = good;
            spoil(&mut bad);
            assert_eq!(Candle::try_from(bad), Err(InvalidCandle), "{bad:?}");
        }
        let text = "2,3,1,2,2,3,1,2,5,6,60";
        assert_eq!(Candle::of_attribute(&string(text)), Candle::try_from(good).ok());
        for bad in [
            "",
            "2,3,1,2,2,3,1,2,5,6",
            "2,3,1,2,2,3,1,2,5,6,60,1",
            "2,3,1,2,2,3,1,2,5,6,60,",
            "2;3",
            "2,3,1,2,2,3,1,2,5.5,6,60",
        ] {
            assert_eq!(Candle::of_attribute(&string(bad)), None, "{bad}");
        }
    }
}
