//! Prices of the bazaar, one line per minute or candle interval.

use common::time::{Tick, UnixSeconds};
use common::upstream::json::{Members, whole_number};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use tables::Session;
use tables::bazaar::{Candle, Candles, INTERVALS, MINUTES, Numbers, Quote, record};
use tables::series::{Interval, Slot, is_due};

use super::patiently;
use super::slice::{Fields, LineCandle};
use crate::error::Error;
use crate::transfer::line::{BadLine, parse};
use crate::transfer::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    interval: String,
    opened_at: UnixSeconds,
    products: Members<String, Vec<Number>>,
}

/// The numbers of a minute or of a candle.
#[derive(Serialize)]
#[serde(untagged)]
enum Written {
    Minute(Quote),
    Candle(Numbers),
}

impl LineCandle for Candle {
    const FIELD: &'static str = "products";
    const ALLOWED: &'static str = "a minute must be [sell_price,buy_price,sell_volume,buy_volume], and a candle open, high, low and \
                                   close of the sell price, the same of the buy price, two volumes, the number of recorded minutes, at \
                                   least 1 and at most as many as there are up to the last recorded one, and the number of minutes \
                                   after that; prices must be from 0 to 1e12, and none above high or below low";
    type Text = Vec<Number>;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        [&MINUTES].into_iter().chain(&INTERVALS)
    }

    fn fields(line: &str) -> Result<Fields<Vec<Number>>, BadLine> {
        let Line { interval, opened_at, products } = parse(line)?;
        Ok(Fields { interval, opened_at, texts: products.0 })
    }

    fn read(slot: Slot, numbers: &Vec<Number>) -> Option<Self> {
        let price = Number::as_f64;
        let count = |number: &Number| whole_number(number).ok();
        if slot.interval == &MINUTES {
            let [sell, buy, sell_volume, buy_volume] = numbers.as_slice() else { return None };
            let quote = Quote::nearest(price(sell)?, price(buy)?, count(sell_volume)?, count(buy_volume)?)?;
            return Some(Self::of(quote, slot.start));
        }
        let (prices, counts) = numbers.split_at_checked(8)?;
        let prices: Vec<f64> = prices.iter().map(price).collect::<Option<_>>()?;
        let counts: Vec<i64> = counts.iter().map(count).collect::<Option<_>>()?;
        let [so, sh, sl, sc, bo, bh, bl, bc] = prices.try_into().ok()?;
        let (sell_volume, buy_volume, samples, missed) = match *counts {
            [sell_volume, buy_volume, samples] => (sell_volume, buy_volume, samples, 0),
            [sell_volume, buy_volume, samples, missed] => (sell_volume, buy_volume, samples, missed),
            _ => return None,
        };
        let (samples, missed) = (samples.try_into().ok()?, missed.try_into().ok()?);
        let numbers = (so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples, missed);
        let candle = Self::of_numbers(slot, numbers).ok()?;
        // Of two candles the one with more samples stays, so a wrong number would stay permanently.
        let minutes = candle.closed_at.get().abs_diff(slot.start.get()) / 60 + 1;
        (u64::from(samples) <= minutes).then_some(candle)
    }

    fn has_price(&self) -> bool {
        // The recorder skips products without a price, too.
        self.sell.high.coins() > 0.0 || self.buy.high.coins() > 0.0
    }

    fn written(&self, slot: Slot) -> impl Serialize {
        if slot.interval == &MINUTES {
            Written::Minute(self.close())
        } else {
            Written::Candle(self.numbers(slot))
        }
    }
    async fn record_minute(table: Session<'_>, minute: Slot, candles: &Candles) -> Result<bool, Error> {
        let tick = Tick::of(minute.start);
        if !patiently(async || is_due(table, &MINUTES, tick, now()).await).await? {
            return Ok(false);
        }
        let quotes = candles.iter().map(|(id, candle)| (id.clone(), candle.close())).collect();
        patiently(async || record(table, tick, &quotes).await).await?;
        Ok(true)
    }
}
