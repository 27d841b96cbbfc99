//! A candle: the prices of a product during an interval.

use std::str::{FromStr, Split};
use std::time::Duration;

use common::time::UnixSeconds;

use super::numbers::{Number, Numbers, trimmed};
use super::quote::{Price, Quote};
use crate::series::keys::Slot;

/// The first, highest, lowest and last recorded price of an interval, in coins. A price is 0 while there are
/// no buy orders (sell price) or no sell offers (buy price).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The price at the first recorded minute.
    pub open: Price,
    pub high: Price,
    pub low: Price,
    /// The price at the last recorded minute.
    pub close: Price,
}

/// The prices of the best orders of one side of the order book during an interval, in coins. Minutes without
/// orders on this side do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    pub high: Price,
    pub low: Price,
    /// The price at the last minute that counts.
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
    /// The prices of the best buy order; `None` if no minute counts.
    pub buy_order: Option<Best>,
    /// The prices of the best sell offer; `None` if no minute counts.
    pub sell_offer: Option<Best>,
    /// The number of items sold instantly in the seven days before the last recorded minute; `None` if it is
    /// unknown.
    pub sell_moving_week: Option<i64>,
    /// The number of items bought instantly in the seven days before the last recorded minute; `None` if it
    /// is unknown.
    pub buy_moving_week: Option<i64>,
    /// The number of recorded minutes.
    pub samples: u32,
    /// The last recorded minute.
    pub closed_at: UnixSeconds,
}

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

impl Best {
    const fn of(price: Price) -> Self {
        Self { high: price, low: price, close: price }
    }

    /// Returns the prices, which are all missing or all valid: above 0, and close between low and high.
    /// `None` if they are not.
    #[expect(clippy::option_option, reason = "missing prices are not invalid ones")]
    fn nearest(prices: [Option<f64>; 3]) -> Option<Option<Self>> {
        let [Some(high), Some(low), Some(close)] = prices else {
            return prices.iter().all(Option::is_none).then_some(None);
        };
        let [high, low, close] = [high, low, close].map(Price::nearest);
        let (high, low, close) = (high?, low?, close?);
        (low.is_positive() && low <= close && close <= high).then_some(Some(Self { high, low, close }))
    }

    /// Returns the prices of an interval and a later interval together.
    pub(super) fn joined(earlier: Option<Self>, later: Option<Self>) -> Option<Self> {
        let (Some(earlier), Some(later)) = (earlier, later) else { return later.or(earlier) };
        Some(Self {
            high: if later.high > earlier.high { later.high } else { earlier.high },
            low: if later.low < earlier.low { later.low } else { earlier.low },
            close: later.close,
        })
    }

    pub(super) fn coins(best: Option<Self>) -> [Option<f64>; 3] {
        best.map_or([None; 3], |Self { high, low, close }| {
            [high, low, close].map(|price| Some(price.coins()))
        })
    }
}

impl Candle {
    /// Returns the candle of one recorded minute.
    #[must_use]
    pub fn of(quote: Quote, minute: UnixSeconds) -> Self {
        Self {
            sell: Prices::of(quote.sell_price),
            buy: Prices::of(quote.buy_price),
            sell_volume: quote.sell_volume,
            buy_volume: quote.buy_volume,
            buy_order: quote.buy_order.map(Best::of),
            sell_offer: quote.sell_offer.map(Best::of),
            sell_moving_week: quote.sell_moving_week,
            buy_moving_week: quote.buy_moving_week,
            samples: 1,
            closed_at: minute,
        }
    }

    /// Returns the closes. In a candle of one minute, this is the quote of the minute.
    #[must_use]
    pub fn close(&self) -> Quote {
        Quote {
            sell_price: self.sell.close,
            buy_price: self.buy.close,
            sell_volume: self.sell_volume,
            buy_volume: self.buy_volume,
            buy_order: self.buy_order.map(|best| best.close),
            sell_offer: self.sell_offer.map(|best| best.close),
            sell_moving_week: self.sell_moving_week,
            buy_moving_week: self.buy_moving_week,
        }
    }

    /// Returns the numbers of the candle in its slot: open, high, low and close of the sell price, the same
    /// of the buy price, sell volume, buy volume, samples, the number of minutes of the interval after the
    /// last recorded one, high, low and close of the best buy order, the same of the best sell offer, and the
    /// moving weeks of sales and purchases.
    #[must_use]
    pub fn numbers(&self, slot: Slot) -> Numbers {
        let missed = slot.last_minute().get().saturating_sub(self.closed_at.get()) / 60;
        let averages = self.sell.coins().into_iter().chain(self.buy.coins()).map(Some);
        let best = Best::coins(self.buy_order).into_iter().chain(Best::coins(self.sell_offer));
        let counts = [self.sell_volume, self.buy_volume, self.samples.into(), missed].map(Some);
        let weeks = [self.sell_moving_week, self.buy_moving_week];
        let coins = |coins: Option<f64>| coins.map(Number::Coins);
        let count = |count: Option<i64>| count.map(Number::Count);
        trimmed((averages.map(coins).chain(counts.map(count))).chain(best.map(coins)).chain(weeks.map(count)))
    }

    /// Parses the text in a row of the slot: its [`numbers`](Self::numbers), separated by commas. Missing
    /// numbers are empty or, at the end, left out. `None` if the text is not a candle.
    #[must_use]
    pub fn of_text(slot: Slot, text: &str) -> Option<Self> {
        fn next<T: FromStr>(numbers: &mut Split<'_, char>) -> Option<T> {
            numbers.next()?.parse().ok()
        }
        #[expect(clippy::option_option, reason = "an unknown number is not an invalid one")]
        fn next_known<T: FromStr>(numbers: &mut Split<'_, char>) -> Option<Option<T>> {
            match numbers.next() {
                None | Some("") => Some(None),
                Some(number) => number.parse().ok().map(Some),
            }
        }
        let numbers = &mut text.split(',');
        let sell = Prices::nearest([next(numbers)?, next(numbers)?, next(numbers)?, next(numbers)?])?;
        let buy = Prices::nearest([next(numbers)?, next(numbers)?, next(numbers)?, next(numbers)?])?;
        let (sell_volume, buy_volume, samples) = (next(numbers)?, next(numbers)?, next(numbers)?);
        let missed: u32 = next_known(numbers)?.unwrap_or_default();
        let mut best = || Best::nearest([next_known(numbers)?, next_known(numbers)?, next_known(numbers)?]);
        let (buy_order, sell_offer) = (best()?, best()?);
        let (sell_moving_week, buy_moving_week) = (next_known(numbers)?, next_known(numbers)?);
        let closed_at = slot.last_minute().minus(Duration::from_mins(1) * missed);
        let counts = [Some(sell_volume), Some(buy_volume), sell_moving_week, buy_moving_week];
        let is_valid = counts.into_iter().flatten().all(|count: i64| count >= 0)
            && samples > 0
            && closed_at >= slot.start
            && numbers.next().is_none();
        is_valid.then_some(Self {
            sell,
            buy,
            sell_volume,
            buy_volume,
            buy_order,
            sell_offer,
            sell_moving_week,
            buy_moving_week,
            samples,
            closed_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::bazaar::{INTERVALS, ONE_MINUTE};
    use crate::row::Value;
    use crate::series::SeriesCandle as _;

    /// The best orders of both sides in tenths of a coin, and the moving weeks, of one minute.
    type Minute = ([Option<u32>; 2], [Option<i64>; 2]);

    fn minute() -> impl Strategy<Value = Minute> {
        let best = || prop::option::weighted(0.7, 1_u32..60);
        let week = || prop::option::weighted(0.9, 0_i64..9);
        ([best(), best()], [week(), week()])
    }

    fn best_of(minutes: &[Minute], side: usize) -> [Option<f64>; 3] {
        let prices: Vec<u32> = minutes.iter().filter_map(|(best, _)| best[side]).collect();
        [prices.iter().max(), prices.iter().min(), prices.last()]
            .map(|tenths| tenths.map(|tenths| f64::from(*tenths) / 10.0))
    }

    proptest! {
        /// Minutes without orders on a side do not count there, however the minutes are divided into parts.
        #[test]
        fn best_orders_and_moving_weeks_follow_from_the_minutes(
            minutes in vec(minute(), 1..12), part in 1_usize..5
        ) {
            let [_, _, hour, ..] = &INTERVALS;
            let slot = hour.at(UnixSeconds::new(0));
            let candle = |(number, (best, weeks)): (i64, &Minute)| {
                let best = best.map(|tenths| tenths.map(|tenths| f64::from(tenths) / 10.0));
                let quote = Quote::nearest(1.5, 2.5, 3, 4).unwrap().with(best, *weeks).unwrap();
                let minute = ONE_MINUTE.at(UnixSeconds::new(number * 60));
                let read = Candle::of_value(minute, &Value::from(&quote.attribute())).unwrap();
                assert_eq!((read, read.close()), (Candle::of(quote, minute.start), quote));
                read
            };
            let candles: Vec<_> = (0..).zip(&minutes).map(candle).collect();
            let join = |candles: &[Candle]| candles.iter().copied().reduce(Candle::followed_by).unwrap();
            let whole = join(&candles);
            let parts: Vec<_> = candles.chunks(part).map(join).collect();
            prop_assert_eq!(join(&parts), whole);
            prop_assert_eq!(Best::coins(whole.buy_order), best_of(&minutes, 0));
            prop_assert_eq!(Best::coins(whole.sell_offer), best_of(&minutes, 1));
            prop_assert_eq!([whole.sell_moving_week, whole.buy_moving_week], minutes.last().unwrap().1);
            prop_assert_eq!(Candle::of_value(slot, &Value::from(&whole.attribute(slot))), Some(whole));
        }
    }

    #[test]
    fn the_text_of_a_candle_leaves_out_unknown_numbers_at_the_end() {
        let slot = INTERVALS[0].at(UnixSeconds::new(0));
        for text in [
            "1,2,1,2,3,3,3,3,0,4,5,0",
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5,1.2,1.3",
            "1,2,1,2,3,3,3,3,0,4,3,2,,,,1.5,1.2,1.2,,0",
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5,1.5,1.5,,,,7,0",
        ] {
            let candle = Candle::of_text(slot, text).unwrap();
            assert_eq!(candle.attribute(slot), crate::item::string(text));
        }
        for text in [
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5",
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5,1.6,1.5",
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5,1.2,1.6",
            "1,2,1,2,3,3,3,3,0,4,5,0,1.5,0,1",
            "1,2,1,2,3,3,3,3,0,4,5,0,,,,,,,-1",
            "1,2,1,2,3,3,3,3,0,4,5,0,,,,,,,1,1,1",
            "1,2,1,2,3,3,3,3,0,4,5,5",
            "1,2,1,2,3,3,3,3,,4,5,0",
        ] {
            assert_eq!(Candle::of_text(slot, text), None, "{text}");
        }
    }
}
