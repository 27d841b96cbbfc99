//! A candle: the lowest prices and the sales of an item during an hour or a day.

use super::minute::Price;
use super::sale::Sale;
use common::coins::Coins;

/// The lowest prices of an item during an interval. Minutes in which the item was not listed do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// The price at the first minute.
    pub open: Coins,
    /// The highest price.
    pub high: Coins,
    pub low: Coins,
    /// The price at the last minute.
    pub close: Coins,
    /// The sum of the prices of all minutes, in hundredths of a coin.
    pub sum: u64,
    /// The number of running buy-it-now auctions at the last minute.
    pub listings: u32,
    /// The number of minutes in which the item was listed.
    pub samples: u32,
}

/// A summary of sales of an item. `low`, `high` and `prices` are prices of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold {
    pub sales: u32,
    /// The number of items.
    pub sold: u64,
    /// The sum of the prices of whole stacks, in coins.
    pub sum: u64,
    /// The lowest price.
    pub low: Coins,
    /// The highest price.
    pub high: Coins,
    /// Prices, each with its number of sales: the price of each sale, or the median of each hour.
    prices: Vec<(Coins, u32)>,
}

/// The prices and sales of an item during an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candle {
    /// The lowest prices; `None` if the item was not listed.
    pub listed: Option<Listed>,
    /// The sales; `None` if there were none.
    pub sold: Option<Sold>,
}

impl Listed {
    /// Returns the prices of an interval of one minute.
    #[must_use]
    pub const fn of(Price { lowest, listings, .. }: Price) -> Self {
        Self {
            open: lowest,
            high: lowest,
            low: lowest,
            close: lowest,
            sum: lowest.hundredths(),
            listings,
            samples: 1,
        }
    }

    /// Returns the prices of this interval and a later interval together.
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

    /// Returns the numbers that a row stores: close, listings and samples. If the price changed, sum, open,
    /// high and low follow.
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
        let is_inside = |price: u64| (low..=high).contains(&price);
        if *samples == 0 || !is_inside(open) || !is_inside(*close) {
            return None;
        }
        Some(Self {
            open: Coins::of_hundredths(open),
            high: Coins::of_hundredths(high),
            low: Coins::of_hundredths(low),
            close: Coins::of_hundredths(*close),
            sum,
            listings: u32::try_from(*listings).ok()?,
            samples: u32::try_from(*samples).ok()?,
        })
    }
}

impl Sold {
    /// Returns a summary of the sales with the price of each; `None` if there are no sales.
    #[must_use]
    pub fn of<'a>(sales: impl IntoIterator<Item = &'a Sale>) -> Option<Self> {
        let mut sales = sales.into_iter().map(|sale| {
            let price = sale.price_of_one();
            let sold = sale.amount.get().into();
            Self { sales: 1, sold, sum: sale.price, low: price, high: price, prices: vec![(price, 1)] }
        });
        let first = sales.next()?;
        Some(sales.fold(first, Self::followed_by))
    }

    /// Returns the summary with the median in place of the prices, as candles have it.
    #[must_use]
    pub fn condensed(&self) -> Self {
        let Self { sales, sold, sum, low, high, .. } = *self;
        Self { sales, sold, sum, low, high, prices: vec![(self.median(), sales)] }
    }

    /// Returns a summary of these and the other sales.
    #[must_use]
    pub fn followed_by(mut self, later: Self) -> Self {
        self.prices.extend(later.prices);
        Self {
            sales: self.sales.saturating_add(later.sales),
            sold: self.sold.saturating_add(later.sold),
            sum: self.sum.saturating_add(later.sum),
            low: self.low.min(later.low),
            high: self.high.max(later.high),
            prices: self.prices,
        }
    }

    /// Returns the average price of one item.
    #[must_use]
    pub fn average(&self) -> Coins {
        Coins::of_hundredths(divided(self.sum.saturating_mul(100), self.sold))
    }

    /// Returns the median price. For several candles, it is the median of their medians, each weighted by the
    /// candle's number of sales.
    #[must_use]
    pub fn median(&self) -> Coins {
        let mut sorted = self.prices.clone();
        sorted.sort_unstable();
        let sales = u64::from(self.sales);
        let mut counted = 0;
        let mut prices = sorted.into_iter().peekable();
        while let Some((price, sales_at_price)) = prices.next() {
            counted += 2 * u64::from(sales_at_price);
            if counted >= sales {
                let next = if counted == sales { prices.peek() } else { None };
                return Coins::between(price, next.map_or(price, |(above, _)| *above));
            }
        }
        self.high
    }

    /// Returns the numbers that a row stores: the number of items and the sum. If there are several sales,
    /// the number of sales, the median, low and high follow.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let mut numbers = vec![self.sold, self.sum];
        if self.sales > 1 {
            numbers.push(self.sales.into());
            numbers.extend([self.median(), self.low, self.high].map(Coins::hundredths));
        }
        numbers
    }

    pub(super) fn of_numbers(numbers: &[u64]) -> Option<Self> {
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
        is_candle.then(|| Self { sales, sold, sum, low, high, prices: vec![(median, sales)] })
    }
}

impl Candle {
    /// Parses the text of a row or an export; `None` if it is not a candle.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let (of_listings, of_sales) = text.split_once(';').unwrap_or((text, ""));
        let mut candle = Self { listed: None, sold: None };
        if !of_listings.is_empty() {
            candle.listed = Some(Listed::of_numbers(&numbers(of_listings)?)?);
        }
        if !of_sales.is_empty() {
            candle.sold = Some(Sold::of_numbers(&numbers(of_sales)?)?);
        }
        (candle.listed.is_some() || candle.sold.is_some()).then_some(candle)
    }

    /// Returns the text that a row stores: the numbers of the lowest prices. If there were sales, a semicolon
    /// and the numbers of the sales follow.
    #[must_use]
    pub fn to_text(&self) -> String {
        let joined = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let mut text = String::new();
        if let Some(listed) = &self.listed {
            text.push_str(&joined(listed.numbers()));
        }
        if let Some(sold) = &self.sold {
            text.push(';');
            text.push_str(&joined(sold.numbers()));
        }
        text
    }
}

/// Parses comma-separated numbers.
fn numbers(text: &str) -> Option<Vec<u64>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

pub(super) fn together<T>(one: Option<T>, later: Option<T>, both: impl Fn(T, T) -> T) -> Option<T> {
    match (one, later) {
        (Some(one), Some(later)) => Some(both(one, later)),
        (one, later) => one.or(later),
    }
}

/// Returns the quotient, rounded to the nearest whole number. A divisor of 0 counts as 1.
pub(super) const fn divided(sum: u64, by: u64) -> u64 {
    let by = if by == 0 { 1 } else { by };
    sum.saturating_add(by / 2) / by
}
