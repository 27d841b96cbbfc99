//! Prices of the bazaar, one line per minute or candle interval.

use common::json::whole_number;
use common::time::{Tick, now};
use serde_json::{Number, Value, json};
use tables::Session;
use tables::bazaar::{Candle, Candles, INTERVALS, ONE_MINUTE, Quote, record};
use tables::series::{Interval, Slot, is_due};

use super::patience::patiently;
use super::slice::LineCandle;
use crate::error::Error;

impl LineCandle for Candle {
    const FIELD: &'static str = "products";
    const ALLOWED: &'static str = "a minute must be [sell_price,buy_price,sell_volume,buy_volume]; a candle must be open, high, low and \
                                   close of the sell price, the same of the buy price, two volumes, the number of recorded minutes (at \
                                   least 1, at most all minutes up to the last recorded one), and the number of minutes after that one; \
                                   the best buy order, the best sell offer (of a candle: high, low and close of each), and the moving \
                                   weeks of sales and purchases may follow or be null; prices must be from 0 to 1e12, and open and close \
                                   from low to high";
    type Text = Vec<Option<Number>>;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        [&ONE_MINUTE].into_iter().chain(&INTERVALS)
    }

    fn read(slot: Slot, numbers: &Vec<Option<Number>>) -> Option<Self> {
        if slot.interval == &ONE_MINUTE {
            return Some(Self::of(quote(numbers)?, slot.start));
        }
        // Counts may be written as floating-point numbers.
        let text = |number: &Option<Number>| {
            let number = number.as_ref();
            number.map_or_else(String::new, |number| {
                whole_number(number).map_or_else(|_| number.to_string(), |count| count.to_string())
            })
        };
        let candle = Self::of_text(slot, &numbers.iter().map(text).collect::<Vec<_>>().join(","))?;
        // Of two candles of a slot, the table keeps the one with more samples. A candle with too many samples
        // would stay permanently.
        let minutes = candle.closed_at.get().abs_diff(slot.start.get()) / 60 + 1;
        (u64::from(candle.samples) <= minutes).then_some(candle)
    }

    fn has_price(&self) -> bool {
        // `record-bazaar` also skips products without a price.
        self.sell.high.coins() > 0.0 || self.buy.high.coins() > 0.0
    }

    fn written(&self, slot: Slot) -> Value {
        if slot.interval == &ONE_MINUTE { json!(self.close().numbers()) } else { json!(self.numbers(slot)) }
    }

    async fn record_minute(table: Session<'_>, minute: Slot, candles: &Candles) -> Result<bool, Error> {
        let tick = Tick::of(minute.start);
        if !patiently(async || is_due(table, &ONE_MINUTE, tick, now()).await).await? {
            return Ok(false);
        }
        let quotes = candles.iter().map(|(id, candle)| (id.clone(), candle.close())).collect();
        patiently(async || record(table, tick, &quotes).await).await?;
        Ok(true)
    }
}

/// Returns the quote with the numbers of a minute; `None` if they are not a quote.
fn quote(numbers: &[Option<Number>]) -> Option<Quote> {
    let [Some(sell), Some(buy), Some(sell_volume), Some(buy_volume), others @ ..] = numbers else {
        return None;
    };
    let count = |number| whole_number(number).ok();
    let quote = Quote::nearest(sell.as_f64()?, buy.as_f64()?, count(sell_volume)?, count(buy_volume)?)?;
    let [buy_order, sell_offer, sell_week, buy_week] =
        std::array::from_fn(|place| others.get(place)?.as_ref());
    let weeks = [sell_week, buy_week].map(|week| week.map(count));
    if others.len() > 4 || weeks.iter().flatten().any(Option::is_none) {
        return None;
    }
    let best = [buy_order, sell_offer].map(|price| price.and_then(Number::as_f64));
    quote.with(best, weeks.map(Option::flatten))
}
