//! Computes the candles that must follow from recorded minutes, and compares responses with them.

use std::collections::BTreeMap;

use local::Cloud;

use super::{INTERVALS, Interval, get_page};
use crate::history::market::Market;
use crate::history::{MINUTE, rfc3339};
use crate::oracle::{Candle, Minute};

/// The recorded minutes: what is recorded of each product by the start of the minute in Unix seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Minutes(BTreeMap<i64, BTreeMap<String, Minute>>);

impl Minutes {
    /// Records the market at the minute in the cloud, and adds its quotes to these minutes.
    pub(super) async fn record(&mut self, cloud: &Cloud, minute: i64, market: &Market) {
        assert_eq!(minute % MINUTE, 0);
        let recorded = market.record(cloud, minute).await;
        let kept = market.0.iter().filter_map(|(id, quote)| Some((id.clone(), quote.recorded_minute()?)));
        let quotes: BTreeMap<_, _> = kept.collect();
        assert_eq!(recorded["products"], quotes.len(), "at {}", rfc3339(minute));
        self.0.insert(minute, quotes);
    }

    /// The candle of the product from the recorded minutes of the interval that starts at `slot`. `None` if
    /// no minute has the product.
    fn candle(&self, id: &str, interval: &Interval, slot: i64, complete: bool) -> Option<Candle> {
        let minutes = self.0.range(slot..slot + interval.length);
        let candle = Candle::of_minutes(slot, minutes.filter_map(|(_, products)| products.get(id).copied()))?;
        Some(Candle { complete, ..candle })
    }

    /// All candles of the product. A candle is complete if it ends no later than `settled`.
    pub(super) fn candles(&self, id: &str, interval: &Interval, settled: i64) -> Vec<Candle> {
        let mut slots: Vec<_> = self.0.keys().map(|minute| interval.slot(*minute)).collect();
        slots.dedup();
        let candle = |slot: i64| self.candle(id, interval, slot, slot + interval.length <= settled);
        slots.into_iter().filter_map(candle).collect()
    }

    /// These minutes without the minutes from `first` up to, but not including, `end`.
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

    /// Panics unless the service returns these candles of the products in every interval, at the time `now`
    /// in Unix seconds. A candle is complete if it ends no later than `settled`. Returns the number of
    /// compared candles.
    pub(super) async fn expect(&self, cloud: &Cloud, ids: &[&str], settled: i64, now: i64) -> usize {
        let mut compared = 0;
        for interval in &INTERVALS {
            for id in ids {
                let page = get_page(cloud, id, interval, "&limit=1000", now).await;
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
