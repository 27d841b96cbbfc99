//! Candles of the bazaar, one line per slot of an interval. A slot keeps the version of what it was built from, so that the recorder
//! finds it as it left it.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Write as _};

use common::excerpt::Excerpt;
use common::json::whole_number;
use common::time::UnixSeconds;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;
use tables::Table;
use tables::history::bazaar::Price;
use tables::history::candles::{self as table, Candle, INTERVALS, Interval, recorded_slots};
use tokio::sync::Mutex;

use super::kind::{Kind, OPERATION_TIMEOUT, Rows, Stored, now};
use super::line::{self, BadLine};
use super::products::products;

/// How many slots an export reads ahead.
const READ_AHEAD: usize = 4;

/// A slot: the name of its interval and its start.
type SlotName = (&'static str, UnixSeconds);

/// The table's candles.
pub(super) struct Candles {
    table: Table,
    /// Slots that are there are skipped without a request to the table.
    there: Mutex<Option<HashSet<SlotName>>>,
}

impl Candles {
    pub(super) fn of(table: Table) -> Self {
        Self { table, there: Mutex::new(None) }
    }
}

/// The candles of the products in a slot.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Slot {
    #[serde(serialize_with = "name")]
    pub(super) interval: &'static Interval,
    pub(super) opened_at: UnixSeconds,
    /// What the recorder built the slot from; `None` if another program computed its candles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<u32>,
    pub(super) products: table::Candles,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "Serde passes a reference to the field")]
fn name<S: Serializer>(interval: &&'static Interval, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(interval.name)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(deserialize_with = "interval")]
    interval: &'static Interval,
    opened_at: UnixSeconds,
    #[serde(default, deserialize_with = "version")]
    version: Option<u32>,
    #[serde(deserialize_with = "priced")]
    products: table::Candles,
}

fn priced<'de, D: Deserializer<'de>>(deserializer: D) -> Result<table::Candles, D::Error> {
    products(deserializer, LineCandle::candle, |candle| {
        candle.sell.high.coins() > 0.0 || candle.buy.high.coins() > 0.0
    })
}

/// The value of a product in a line.
struct LineCandle {
    prices: [f64; 8],
    /// Two volumes and the samples.
    counts: [i64; 3],
}

#[derive(Deserialize)]
struct Count(#[serde(deserialize_with = "whole_number")] i64);

fn interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Interval, D::Error> {
    let name = String::deserialize(deserializer)?;
    INTERVALS.iter().find(|interval| interval.name == name).ok_or_else(|| {
        let [names @ .., last] = INTERVALS.each_ref().map(|interval| interval.name);
        let names = names.join(", ");
        D::Error::custom(format_args!(
            "{} is not an interval of candles; it must be {names} or {last}",
            Excerpt::of(&name)
        ))
    })
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let number = whole_number(deserializer)?;
    let outside =
        |_| D::Error::custom(format_args!("{number} is out of range: it must be from 0 to {}", u32::MAX));
    u32::try_from(number).map(Some).map_err(outside)
}

impl LineCandle {
    /// # Errors
    /// What is wrong with the numbers.
    fn candle(&self) -> Result<Candle, String> {
        let &Self { prices: [so, sh, sl, sc, bo, bh, bl, bc], counts: [sell_volume, buy_volume, samples] } =
            self;
        if let Ok(samples) = u32::try_from(samples)
            && let Ok(candle) =
                Candle::try_from((so, sh, sl, sc, bo, bh, bl, bc, sell_volume, buy_volume, samples))
        {
            return Ok(candle);
        }
        let range = 0.0..=Price::HIGHEST;
        Err(if let Some(price) = self.prices.iter().find(|price| !range.contains(*price)) {
            format!("its prices must be from 0 to {:e} coins, not {price:?}", Price::HIGHEST)
        } else if let Some(volume) = [sell_volume, buy_volume].into_iter().find(|volume| *volume < 0) {
            format!("its volumes must be at least 0, not {volume}")
        } else if !(1..=i64::from(u32::MAX)).contains(&samples) {
            format!("its samples, the number of recorded minutes, must be at least 1, not {samples}")
        } else {
            let is_sell = !(sl <= so && so <= sh && sl <= sc && sc <= sh);
            let (side, [open, high, low, close]) =
                if is_sell { ("sell", [so, sh, sl, sc]) } else { ("buy", [bo, bh, bl, bc]) };
            format!(
                "no {side} price may be above high or below low, as in \
                 [open,high,low,close] = [{open:?},{high:?},{low:?},{close:?}]"
            )
        })
    }
}

impl<'de> Deserialize<'de> for LineCandle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CandleVisitor;

        impl<'de> Visitor<'de> for CandleVisitor {
            type Value = LineCandle;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a list of eleven: [sell open,high,low,close,buy open,high,low,close,\
                     sell_volume,buy_volume,samples]",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LineCandle, A::Error> {
                let mut candle = LineCandle { prices: [0.0; 8], counts: [0; 3] };
                let mut length = 0;
                for price in &mut candle.prices {
                    let number: Option<Number> = list.next_element()?;
                    let number = number.and_then(|number| number.as_f64());
                    *price = number.ok_or_else(|| A::Error::invalid_length(length, &self))?;
                    length += 1;
                }
                for count in &mut candle.counts {
                    let number = list.next_element()?.map(|Count(number)| number);
                    *count = number.ok_or_else(|| A::Error::invalid_length(length, &self))?;
                    length += 1;
                }
                let expected = length;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                if length == expected { Ok(candle) } else { Err(A::Error::invalid_length(length, &self)) }
            }
        }

        deserializer.deserialize_seq(CandleVisitor)
    }
}

impl Kind for Candles {
    type Row = Slot;

    // The rows of one slot are written concurrently already.
    const CONCURRENCY: usize = 1;

    fn parse(line: &str, now: UnixSeconds) -> Result<Slot, BadLine> {
        let Line { interval, opened_at, version, products } = line::parse(line)?;
        let name = interval.name;
        let slot = interval.slot(opened_at);
        if slot != opened_at {
            return Err(BadLine::new(format!(
                "opened_at: {opened_at} is not the start of an interval of {name}; the one that contains it starts at {slot}"
            )));
        }
        let end = interval.end(slot);
        if end > now {
            return Err(BadLine::new(format!(
                "opened_at: the interval of {name} that starts at {slot} has not ended; the clock of this machine shows {now}"
            )));
        }
        if products.is_empty() {
            return Err(BadLine::new("products: at least one must have a price"));
        }
        let minutes = interval.length.as_secs() / 60;
        if let Some((id, candle)) = products.iter().find(|(_, candle)| u64::from(candle.samples) > minutes) {
            return Err(BadLine::new(format!(
                "products: {}: its samples, the number of recorded minutes, must be at most {minutes} in an \
                 interval of {name}, not {}",
                id.as_str(),
                candle.samples
            )));
        }
        Ok(Slot { interval, opened_at, version, products })
    }

    async fn store(&self, slot: &Slot) -> Result<Stored, tables::Error> {
        let Slot { interval, opened_at, version, products } = slot;
        if !interval.keeps(*opened_at, now()) {
            return Ok(Stored::TooOld);
        }
        let session = self.table.with_timeout(OPERATION_TIMEOUT);
        let mut there = self.there.lock().await;
        let there = match &mut *there {
            Some(there) => there,
            empty => {
                let slots = recorded_slots(session, now()).await?;
                empty.insert(slots.iter().map(|recorded| (recorded.interval.name, recorded.slot)).collect())
            }
        };
        let is_new = !there.contains(&(interval.name, *opened_at))
            && table::store(session, interval, *opened_at, *version, products).await?;
        there.insert((interval.name, *opened_at));
        Ok(if is_new { Stored::Imported } else { Stored::AlreadyThere })
    }

    async fn rows(&self) -> Result<Rows<'_, Slot>, tables::Error> {
        let session = self.table.with_timeout(OPERATION_TIMEOUT);
        // Rows are kept for hours after an export skips them, so none expires while it runs.
        let slots = recorded_slots(session, now()).await?;
        let total = u64::try_from(slots.len()).ok();
        let rows = stream::iter(slots).map(move |recorded| async move {
            let (interval, opened_at) = (recorded.interval, recorded.slot);
            let products = table::candles(session, recorded).await?.filter(|products| !products.is_empty());
            if products.is_none() {
                let name = interval.name;
                let _ =
                    writeln!(io::stderr(), "{name} at {opened_at} is incomplete in the table and is skipped");
            }
            Ok(products.map(|products| Slot { interval, opened_at, version: recorded.version, products }))
        });
        let rows = rows.buffered(READ_AHEAD).try_filter_map(|slot| std::future::ready(Ok(slot)));
        Ok((total, rows.boxed_local()))
    }
}
