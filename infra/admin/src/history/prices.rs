//! A line of prices of the bazaar: those of a recorded minute, or the candles of an interval.

use std::collections::BTreeMap;

use common::request::parameters::{InvalidValue, ItemId};
use common::response::excerpt::Excerpt;
use common::time::UnixSeconds;
use common::upstream::json::{Members, whole_number};
use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use tables::bazaar::{Candle, Candles, INTERVALS, InvalidCandle, MINUTES, Price, Quote};
use tables::series::{Interval, Slot};

use super::line::{self, BadLine, MAX_CAUSE, ended, past};

/// The content of a line.
#[derive(Debug, PartialEq)]
pub(super) struct Prices {
    pub(super) slot: Slot,
    /// The candles of a minute have one sample.
    pub(super) candles: Candles,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(deserialize_with = "interval")]
    interval: &'static Interval,
    opened_at: UnixSeconds,
    products: Members<String, Vec<Number>>,
}

fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Interval, D::Error> {
    let name = String::deserialize(deserializer)?;
    [&MINUTES].into_iter().chain(&INTERVALS).find(|interval| interval.name == name).ok_or_else(|| {
        let [names @ .., last] = INTERVALS.each_ref().map(|interval| interval.name);
        D::Error::custom(format_args!(
            "{} is not an interval; it must be {}, {} or {last}",
            Excerpt::of(&name),
            MINUTES.name,
            names.join(", ")
        ))
    })
}

impl Prices {
    /// The prices in the line.
    pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Self, BadLine> {
        let Line { interval, opened_at, products } = line::parse(line)?;
        let slot = interval.at(opened_at);
        if interval == &MINUTES {
            past("opened_at", opened_at, now)?;
        } else {
            ended(slot, opened_at, now)?;
        }
        let mut candles = Candles::new();
        for (id, numbers) in products.0 {
            let bad = |reason| BadLine::new(format!("products: {}: {reason}", Excerpt::of(&id)));
            let candle = candle(slot, &numbers).map_err(bad)?;
            let item_id: ItemId = id
                .parse()
                .map_err(|InvalidValue { allowed }| bad(format!("an item id must be {allowed}")))?;
            // The recorder skips products without a price, too.
            let has_price = candle.sell.high.coins() > 0.0 || candle.buy.high.coins() > 0.0;
            if has_price && candles.insert(item_id, candle).is_some() {
                return Err(bad("it appears twice".to_owned()));
            }
        }
        if candles.is_empty() {
            return Err(BadLine::new("products: at least one must have a price"));
        }
        Ok(Self { slot, candles })
    }
}

/// The candle with these numbers.
///
/// # Errors
/// What is wrong with them.
fn candle(slot: Slot, numbers: &[Number]) -> Result<Candle, String> {
    let refused = |reason: String| {
        let list = serde_json::to_string(numbers).unwrap_or_default();
        format!("{}: {reason}", Excerpt::up_to(MAX_CAUSE, &list))
    };
    if slot.interval == &MINUTES {
        let quote = quote(numbers).map(|quote| Candle::of(quote, slot.start));
        return quote.ok_or_else(|| {
            refused(format!(
                "it must be [sell_price,buy_price,sell_volume,buy_volume], prices from 0 to {:e} and whole volumes of at least 0",
                Price::HIGHEST
            ))
        });
    }
    let candle = of_numbers(slot, numbers).ok_or_else(|| refused(InvalidCandle.to_string()))?;
    // Of two candles the one with more samples stays, so a wrong number would stay for ever.
    let minutes = candle.closed_at.get().abs_diff(slot.start.get()) / 60 + 1;
    if u64::from(candle.samples) > minutes {
        return Err(refused(format!(
            "an interval of {} has at most {minutes} minutes up to the last recorded one, not {}",
            slot.interval.name, candle.samples
        )));
    }
    Ok(candle)
}

fn quote(numbers: &[Number]) -> Option<Quote> {
    let [sell_price, buy_price, sell_volume, buy_volume] = numbers else { return None };
    Quote::nearest(sell_price.as_f64()?, buy_price.as_f64()?, count(sell_volume)?, count(buy_volume)?)
}

fn of_numbers(slot: Slot, numbers: &[Number]) -> Option<Candle> {
    let [so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples, missed @ ..] = numbers else {
        return None;
    };
    let missed = match missed {
        [] => 0,
        [missed] => count(missed)?,
        _ => return None,
    };
    let numbers = (
        so.as_f64()?,
        sh.as_f64()?,
        sl.as_f64()?,
        sc.as_f64()?,
        bo.as_f64()?,
        bh.as_f64()?,
        bl.as_f64()?,
        bc.as_f64()?,
        count(sell_volume)?,
        count(buy_volume)?,
        count(samples)?.try_into().ok()?,
        missed.try_into().ok()?,
    );
    Candle::of_numbers(slot, numbers).ok()
}

fn count(number: &Number) -> Option<i64> {
    whole_number(number).ok()
}

impl Serialize for Prices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { slot, candles } = self;
        let mut line = serializer.serialize_struct("Prices", 3)?;
        line.serialize_field("interval", slot.interval.name)?;
        line.serialize_field("opened_at", &slot.start)?;
        if slot.interval == &MINUTES {
            let quotes = candles.iter().map(|(id, candle)| (id, candle.close()));
            line.serialize_field("products", &quotes.collect::<BTreeMap<_, _>>())?;
        } else {
            let numbers = candles.iter().map(|(id, candle)| (id, candle.numbers(*slot)));
            line.serialize_field("products", &numbers.collect::<BTreeMap<_, _>>())?;
        }
        line.end()
    }
}
