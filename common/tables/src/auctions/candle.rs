//! A candle: how the lowest price of an item moved during an hour or a day, and for how much it was sold.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use serde::Serialize;

use super::fields::ItemCandle;
use super::hour;
use super::minute::{Coins, Price, Sale};
use super::rows::MINUTES;
use crate::error::Error;
use crate::item::string;
use crate::row::Value;
use crate::series::keys::{Interval, Slot};
use crate::series::{self, Series};
use crate::session::Session;

const DAY: Duration = Duration::from_hours(24);

/// The candles of hours, which are built of minutes.
pub(super) const HOURS: Interval = candles("1h", Duration::from_hours(1), Some(DAY.saturating_mul(90)));

/// The intervals of candles, from fine to coarse.
pub const INTERVALS: [Interval; 2] = [HOURS, candles("1d", DAY, None)];

/// The series of candles.
pub const SERIES: Series = Series {
    name: "auctions",
    minutes: &MINUTES,
    finest: &HOURS,
    intervals: &INTERVALS,
    parts: &[&HOURS],
    settle: Duration::from_mins(5),
    // A sale is in a list that is recorded at most this much later.
    reach: Duration::from_mins(3),
};

/// An interval of candles.
///
/// The number of shards was chosen for 6,500 items: 500 rows of most shards are less than half a megabyte. `tests/service/capacity`
/// measures it.
const fn candles(name: &'static str, length: Duration, kept: Option<Duration>) -> Interval {
    Interval { series: "auctions", name, length, kept, shards: 449 }
}

/// The lowest prices of an item during an interval, of the minutes in which it was listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lowest {
    /// At the first minute.
    pub open: Coins,
    /// The highest.
    pub high: Coins,
    /// The lowest.
    pub low: Coins,
    /// At the last minute.
    pub close: Coins,
    /// The sum over the minutes, in hundredths of a coin.
    pub sum: u64,
    /// The number of running buy-it-now auctions at the last minute.
    pub listings: u32,
    /// The number of minutes.
    pub samples: u32,
}

/// The sales of an item during an interval. Prices are those of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold {
    /// The number of sales.
    pub sales: u32,
    /// The number of items.
    pub sold: u64,
    /// The sum of the prices of whole stacks, in coins.
    pub sum: u64,
    /// The lowest price.
    pub low: Coins,
    /// The highest price.
    pub high: Coins,
    /// The medians of the hours, and the number of sales of each.
    medians: Vec<(Coins, u32)>,
}

/// The prices and sales of an item during an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candle {
    /// The lowest prices; `None` if it was not listed.
    pub lowest: Option<Lowest>,
    /// The sales; `None` if there were none.
    pub sold: Option<Sold>,
}

/// The candles of all items in a slot.
pub type Candles = series::Candles<Candle>;

impl Lowest {
    /// The lowest price of one minute.
    #[must_use]
    pub const fn of(Price { lowest, listings, .. }: Price) -> Self {
        let (sum, samples) = (lowest.hundredths(), 1);
        Self { open: lowest, high: lowest, low: lowest, close: lowest, sum, listings, samples }
    }

    /// Returns the prices of this interval and a later one together.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        Self {
            open: self.open,
            high: self.high.max(later.high),
            low: self.low.min(later.low),
            sum: self.sum.saturating_add(later.sum),
            samples: self.samples.saturating_add(later.samples),
            ..later
        }
    }

    /// Returns the average over the minutes.
    #[must_use]
    pub fn average(&self) -> Coins {
        Coins::of_hundredths(divided(self.sum, u64::from(self.samples)))
    }

    /// The numbers of a row: the close, the listings and the samples; and unless all prices are the same, the sum, the open, the high and
    /// the low.
    fn numbers(&self) -> Vec<u64> {
        let Self { open, high, low, close, sum, listings, samples } = *self;
        let mut numbers = vec![close.hundredths(), listings.into(), samples.into()];
        if low < high {
            numbers.extend([sum, open.hundredths(), high.hundredths(), low.hundredths()]);
        }
        numbers
    }

    fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let [close, listings, samples, others @ ..] = numbers else { return None };
        let [sum, open, high, low] = match others {
            [] => [close.checked_mul(*samples)?, *close, *close, *close],
            others => others.try_into().ok()?,
        };
        let is_inside = |price: &u64| (low..=high).contains(price);
        let [open, high, low, close] =
            [open, high, low, *close].map(|price| Some(price).filter(is_inside).map(Coins::of_hundredths));
        let (listings, samples) = (u32::try_from(*listings).ok()?, u32::try_from(*samples).ok()?);
        let candle = Self { open: open?, high: high?, low: low?, close: close?, sum, listings, samples };
        (samples > 0).then_some(candle)
    }
}

impl Sold {
    /// Returns what these sales are together; `None` without a sale.
    #[must_use]
    pub fn of(sales: &[&Sale]) -> Option<Self> {
        let mut prices: Vec<_> = sales.iter().map(|sale| sale.price_of_one()).collect();
        let median = median(&mut prices)?;
        let number = u32::try_from(sales.len()).ok()?;
        Some(Self {
            sales: number,
            sold: sales.iter().map(|sale| u64::from(sale.count.get())).sum(),
            sum: sales.iter().fold(0, |sum, sale| sum.saturating_add(sale.price)),
            low: prices.iter().min().copied()?,
            high: prices.iter().max().copied()?,
            medians: vec![(median, number)],
        })
    }

    fn followed_by(self, later: Self) -> Self {
        Self {
            sales: self.sales.saturating_add(later.sales),
            sold: self.sold.saturating_add(later.sold),
            sum: self.sum.saturating_add(later.sum),
            low: self.low.min(later.low),
            high: self.high.max(later.high),
            medians: [self.medians, later.medians].concat(),
        }
    }

    /// Returns the average price of one item.
    #[must_use]
    pub fn average(&self) -> Coins {
        Coins::of_hundredths(divided(self.sum.saturating_mul(100), self.sold))
    }

    /// Returns the median price. That of several hours is the median of theirs, each counted as often as the hour has sales.
    #[must_use]
    pub fn median(&self) -> Coins {
        let mut medians = self.medians.clone();
        medians.sort_unstable();
        let sales = u64::from(self.sales);
        let mut counted = 0;
        let mut medians = medians.into_iter().peekable();
        while let Some((median, sales_of_hour)) = medians.next() {
            counted += 2 * u64::from(sales_of_hour);
            if counted >= sales {
                let above = medians.peek().filter(|_| counted == sales);
                return Coins::between(median, above.map_or(median, |(above, _)| *above));
            }
        }
        self.high
    }

    /// The numbers of a row: of a single sale the items and the price; otherwise also the number of sales, the median, the low and the high.
    fn numbers(&self) -> Vec<u64> {
        let mut numbers = vec![self.sold, self.sum];
        if self.sales > 1 {
            numbers.push(self.sales.into());
            numbers.extend([self.median(), self.low, self.high].map(Coins::hundredths));
        }
        numbers
    }

    fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let [sold, sum, others @ ..] = numbers else { return None };
        let (sold, sum) = (*sold, *sum);
        if sold == 0 {
            return None;
        }
        let (sales, [median, low, high]) = match others {
            [] => (1, [divided(sum.checked_mul(100)?, sold); 3]),
            [sales, prices @ ..] => (u32::try_from(*sales).ok()?, prices.try_into().ok()?),
        };
        let [median, low, high] = [median, low, high].map(Coins::of_hundredths);
        let is_candle = sales > 0 && low <= median && median <= high;
        is_candle.then(|| Self { sales, sold, sum, low, high, medians: vec![(median, sales)] })
    }
}

impl Candle {
    /// Reads the text of a row or of an export. `None` if it is not a candle.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        fn half<T>(text: &str, of_numbers: impl Fn(&[u64]) -> Option<T>) -> Result<Option<T>, ()> {
            let numbers = text.split(',').map(|number| number.parse().map_err(drop));
            let half = |numbers: Vec<_>| of_numbers(&numbers).map(Some).ok_or(());
            if text.is_empty() { Ok(None) } else { numbers.collect::<Result<_, _>>().and_then(half) }
        }
        let (lowest, sold) = text.split_once(';').unwrap_or((text, ""));
        let (lowest, sold) = (half(lowest, Lowest::of_numbers).ok()?, half(sold, Sold::of_numbers).ok()?);
        (lowest.is_some() || sold.is_some()).then_some(Self { lowest, sold })
    }

    /// The text of a row: the numbers of the lowest price, and after a semicolon those of the sales if there were any.
    #[must_use]
    pub fn text(&self) -> String {
        let half = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let lowest = self.lowest.as_ref().map(|lowest| half(lowest.numbers())).unwrap_or_default();
        let sold = self.sold.as_ref().map(|sold| format!(";{}", half(sold.numbers())));
        lowest + &sold.unwrap_or_default()
    }
}

impl series::Candle for Candle {
    type Id = AuctionItemId;

    const SERIES: &'static Series = &SERIES;

    fn samples(&self) -> u32 {
        self.lowest.map_or(0, |lowest| lowest.samples)
    }

    fn followed_by(self, later: Self) -> Self {
        Self {
            lowest: together(self.lowest, later.lowest, Lowest::followed_by),
            sold: together(self.sold, later.sold, Sold::followed_by),
        }
    }

    fn attribute(&self, _: Slot) -> AttributeValue {
        string(self.text())
    }

    fn of_attribute(_: Slot, value: &AttributeValue) -> Option<Self> {
        Self::of_text(value.as_s().ok()?)
    }

    fn row<'a>(&'a self, id: &'a AuctionItemId) -> impl Serialize + use<'a> {
        ItemCandle { id: id.as_str(), fields: self.into() }
    }

    fn of_value(_: Slot, value: &Value<'_>) -> Option<Self> {
        Self::of_text(value.text()?)
    }

    async fn of_minutes(table: Session<'_>, slot: Slot) -> Result<Candles, Error> {
        hour::build(table, slot).await
    }
}

fn together<T>(one: Option<T>, later: Option<T>, both: impl Fn(T, T) -> T) -> Option<T> {
    match (one, later) {
        (Some(one), Some(later)) => Some(both(one, later)),
        (one, later) => one.or(later),
    }
}

/// Returns the quotient, rounded to the nearest whole number. The divisor is not 0.
pub(super) const fn divided(sum: u64, by: u64) -> u64 {
    let by = if by == 0 { 1 } else { by };
    sum.saturating_add(by / 2) / by
}

/// Returns the median of the prices, whose order changes; `None` without a price.
pub(super) fn median(prices: &mut [Coins]) -> Option<Coins> {
    let upper = prices.len() / 2;
    let is_even = prices.len().is_multiple_of(2);
    if prices.is_empty() {
        return None;
    }
    let (below, upper, _) = prices.select_nth_unstable(upper);
    let lower = below.iter().max().filter(|_| is_even);
    Some(Coins::between(lower.copied().unwrap_or(*upper), *upper))
}
