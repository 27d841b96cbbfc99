//! A candle: the prices of a product during an interval.

use std::str::{FromStr, Split};
use std::time::Duration;

use common::time::UnixSeconds;

use super::quote::{Price, Quote};
use crate::series::keys::Slot;

/// The first, highest, lowest and last recorded price of an interval, in coins. A price is 0 while there are no buy orders (sell price) or
/// no sell offers (buy price).
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

/// The prices and volumes of a product during an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The last recorded minute.
    pub closed_at: UnixSeconds,
}

/// A candle as a list of numbers, as in exports: open, high, low and close of the sell price, the same of the buy price, sell volume,
/// buy volume, samples, and the number of minutes of the interval after the last recorded one.
pub type Numbers = (f64, f64, f64, f64, f64, f64, f64, f64, i64, i64, u32, u32);

impl Prices {
    const fn of(price: Price) -> Self {
        Self { open: price, high: price, low: price, close: price }
    }

    /// Returns the prices. `None` if a price is invalid, or if open or close is not between low and high.
    fn nearest([open, high, low, close]: [f64; 4]) -> Option<Self> {
        let [open, high, low, close] = [open, high, low, close].map(Price::nearest);
        let (open, high, low, close) = (open?, high?, low?, close?);
        let is_inside = |price| low <= price && price <= high;
        (is_inside(open) && is_inside(close)).then_some(Self { open, high, low, close })
    }

    pub(super) fn followed_by(self, later: Self) -> Self {
        Self {
            open: self.open,
            high: if later.high > self.high { later.high } else { self.high },
            low: if later.low < self.low { later.low } else { self.low },
            close: later.close,
        }
    }

    pub(super) const fn coins(&self) -> [f64; 4] {
        [self.open.coins(), self.high.coins(), self.low.coins(), self.close.coins()]
    }
}

impl Candle {
    /// Returns the candle of one recorded minute.
    #[must_use]
    pub const fn of(quote: Quote, minute: UnixSeconds) -> Self {
        let Quote { sell_price, buy_price, sell_volume, buy_volume } = quote;
        let sell = Prices::of(sell_price);
        let buy = Prices::of(buy_price);
        Self { sell, buy, sell_volume, buy_volume, samples: 1, closed_at: minute }
    }

    /// Returns the prices and volumes at the last recorded minute.
    #[must_use]
    pub const fn close(&self) -> Quote {
        let &Self { sell, buy, sell_volume, buy_volume, .. } = self;
        Quote { sell_price: sell.close, buy_price: buy.close, sell_volume, buy_volume }
    }

    /// Returns the numbers of the candle in its slot.
    #[must_use]
    pub fn numbers(&self, slot: Slot) -> Numbers {
        let &Self { sell, buy, sell_volume, buy_volume, samples, closed_at } = self;
        let ([so, sh, sl, sc], [bo, bh, bl, bc]) = (sell.coins(), buy.coins());
        let missed = slot.last_minute().get().saturating_sub(closed_at.get()) / 60;
        let missed = u32::try_from(missed).unwrap_or_default();
        (so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples, missed)
    }

    /// Returns the candle of the slot with these numbers.
    ///
    /// # Errors
    /// If the numbers are not a valid candle of the slot.
    pub fn of_numbers(slot: Slot, numbers: Numbers) -> Result<Self, InvalidCandle> {
        let (so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples, missed) = numbers;
        let sell = Prices::nearest([so, sh, sl, sc]);
        let buy = Prices::nearest([bo, bh, bl, bc]);
        let (Some(sell), Some(buy)) = (sell, buy) else { return Err(InvalidCandle) };
        let closed_at = slot.last_minute().minus(Duration::from_mins(1) * missed);
        if sell_volume < 0 || buy_volume < 0 || samples == 0 || closed_at < slot.start {
            return Err(InvalidCandle);
        }
        Ok(Self { sell, buy, sell_volume, buy_volume, samples, closed_at })
    }

    /// Parses the text in a row of the slot; `None` if it is not a candle.
    #[must_use]
    pub fn of_text(slot: Slot, text: &str) -> Option<Self> {
        fn next<T: FromStr>(numbers: &mut Split<'_, char>) -> Option<T> {
            numbers.next()?.parse().ok()
        }
        let numbers = &mut text.split(',');
        let of_row = (
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
            numbers.next().map_or(Some(0), |missed| missed.parse().ok())?,
        );
        Self::of_numbers(slot, of_row).ok().filter(|_| numbers.next().is_none())
    }
}

/// Numbers that are not a candle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a candle must have open, high, low and close of the sell price, the same of the buy price, two volumes (at least 0), the \
     number of recorded minutes (at least 1), and the number of minutes after the last recorded one (fewer than the interval has); \
     prices must be from 0 to {:e}, open and close from low to high",
    Price::HIGHEST
)]
pub struct InvalidCandle;
