//! The candles that follow from a list of recorded minutes, computed in the simplest way. It shares no code with the functions.

use std::collections::BTreeMap;

use local::Cloud;

use super::{Candle, INTERVALS, Interval, page};
use crate::history::MINUTE;
use crate::history::market::{Market, Quote};
use crate::history::rfc3339;

/// The sell price, the buy price, and both volumes of a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    sell: f64,
    buy: f64,
    volumes: [i64; 2],
}

impl Values {
    /// The values of a product that is recorded: all of them are numbers, and a price is not 0.
    fn of(quote: &Quote) -> Option<Self> {
        let sell: f64 = quote.sell_price.parse().ok()?;
        let buy: f64 = quote.buy_price.parse().ok()?;
        let volumes = [quote.sell_volume.parse().ok()?, quote.buy_volume.parse().ok()?];
        (sell > 0.0 || buy > 0.0).then_some(Self { sell, buy, volumes })
    }
}

/// The recorded minutes: the values of each product by the start of the minute in Unix seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Minutes(BTreeMap<i64, BTreeMap<String, Values>>);

impl Minutes {
    /// Records the market at the minute, in the cloud and here.
    pub(super) async fn record(&mut self, cloud: &Cloud, minute: i64, market: &Market) {
        assert_eq!(minute % MINUTE, 0);
        let recorded = market.record(cloud, minute).await;
        let values = market.0.iter().filter_map(|(id, quote)| Some((id.clone(), Values::of(quote)?)));
        let values: BTreeMap<_, _> = values.collect();
        assert_eq!(recorded["products"], values.len(), "at {}", rfc3339(minute));
        self.0.insert(minute, values);
    }

    /// The candle of the product over the interval that starts at `slot`, as far as it was recorded.
    fn candle(&self, id: &str, interval: &Interval, slot: i64, complete: bool) -> Option<Candle> {
        let minutes = self.0.range(slot..slot + interval.length);
        let values: Vec<_> = minutes.filter_map(|(_, products)| products.get(id)).collect();
        let (first, last) = (values.first()?, values.last()?);
        let bounds = |price: fn(&Values) -> f64| {
            let prices = || values.iter().map(|values| price(values));
            (prices().fold(f64::MAX, f64::min), prices().fold(f64::MIN, f64::max))
        };
        let (sell_low, sell_high) = bounds(|values| values.sell);
        let (buy_low, buy_high) = bounds(|values| values.buy);
        Some(Candle {
            opened_at: rfc3339(slot),
            sell_open: first.sell,
            sell_high,
            sell_low,
            sell_close: last.sell,
            buy_open: first.buy,
            buy_high,
            buy_low,
            buy_close: last.buy,
            sell_volume: last.volumes[0],
            buy_volume: last.volumes[1],
            samples: values.len().try_into().unwrap(),
            complete,
        })
    }

    /// All candles of the product. Those that end no later than `settled` are complete.
    pub(super) fn candles(&self, id: &str, interval: &Interval, settled: i64) -> Vec<Candle> {
        let mut slots: Vec<_> = self.0.keys().map(|minute| interval.slot(*minute)).collect();
        slots.dedup();
        let candle = |slot: i64| self.candle(id, interval, slot, slot + interval.length <= settled);
        slots.into_iter().filter_map(candle).collect()
    }

    /// The same minutes without those from `first` until before `end`.
    pub(super) fn without(&self, first: i64, end: i64) -> Self {
        let is_left = |minute: i64| !(first..end).contains(&minute);
        Self(
            self.0
                .iter()
                .filter(|(minute, _)| is_left(**minute))
                .map(|(minute, products)| (*minute, products.clone()))
                .collect(),
        )
    }

    /// Panics unless the newest candles of the products in every interval are these, at the moment `now` in Unix seconds. Candles
    /// that end no later than `settled` are complete. Returns the number of compared candles.
    pub(super) async fn expect(&self, cloud: &Cloud, ids: &[&str], settled: i64, now: i64) -> usize {
        let mut compared = 0;
        for interval in &INTERVALS {
            for id in ids {
                let page = page(cloud, id, interval, "&limit=1000", now).await;
                let expected = self.candles(id, interval, settled);
                let what = format!("{id}, {}, at {}", interval.name, rfc3339(now));
                for (candle, expected) in page.candles.iter().zip(&expected) {
                    assert_eq!(candle, expected, "{what}");
                }
                assert_eq!(page.times().len(), expected.len(), "{what}");
                assert_eq!(page.next_before, None, "{what}");
                compared += expected.len();
            }
        }
        compared
    }
}
