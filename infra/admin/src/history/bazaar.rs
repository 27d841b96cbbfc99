//! Prices of the bazaar, one line per tick. A tick fills the same slots as if the recorder had recorded it.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use common::json::whole_number;
use common::time::{Tick, UnixSeconds};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::{Error as _, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;
use tables::Table;
use tables::history::bazaar::{
    self, CompleteSlots, Price, Quote, Quotes, TickStatus, fill, open_slots, quotes,
};
use tokio::sync::Mutex;

use super::kind::{Kind, OPERATION_TIMEOUT, Rows, Stored, now};
use super::line::{self, BadLine, past};
use super::products::products;

/// How many ticks an export reads ahead.
const READ_AHEAD: usize = 4;
/// Rows that expire while an export runs may be partly deleted when it reads them.
const EXPIRES_SOON: Duration = Duration::from_mins(15);

/// The table's prices.
pub(super) struct Bazaar {
    table: Table,
    /// Ticks that fill no slot are skipped without a request to the table: nearly all minutes of a quarter.
    complete: Mutex<Option<CompleteSlots>>,
}

impl Bazaar {
    pub(super) fn of(table: Table) -> Self {
        Self { table, complete: Mutex::new(None) }
    }
}

/// The prices of the products at a tick.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Prices {
    pub(super) recorded_at: Tick,
    pub(super) products: Quotes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    recorded_at: UnixSeconds,
    #[serde(deserialize_with = "priced")]
    products: Quotes,
}

fn priced<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quotes, D::Error> {
    products(deserializer, LineQuote::quote, |quote| {
        quote.sell_price.coins() > 0.0 || quote.buy_price.coins() > 0.0
    })
}

/// The value of a product in a line.
struct LineQuote {
    sell_price: f64,
    buy_price: f64,
    sell_volume: i64,
    buy_volume: i64,
}

impl LineQuote {
    /// # Errors
    /// What is wrong with the numbers.
    fn quote(&self) -> Result<Quote, String> {
        let &Self { sell_price, buy_price, sell_volume, buy_volume } = self;
        Quote::nearest(sell_price, buy_price, sell_volume, buy_volume).ok_or_else(|| {
            format!(
                "its prices must be from 0 to {:e} coins and its volumes at least 0, not \
                 [{sell_price:?},{buy_price:?},{sell_volume},{buy_volume}]",
                Price::HIGHEST
            )
        })
    }
}

#[derive(Deserialize)]
struct Volume(#[serde(deserialize_with = "whole_number")] i64);

impl<'de> Deserialize<'de> for LineQuote {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct QuoteVisitor;

        impl QuoteVisitor {
            fn price<'de, A: SeqAccess<'de>>(&self, list: &mut A, index: usize) -> Result<f64, A::Error> {
                let number: Option<Number> = list.next_element()?;
                let price = number.and_then(|number| number.as_f64());
                price.ok_or_else(|| A::Error::invalid_length(index, self))
            }

            fn volume<'de, A: SeqAccess<'de>>(&self, list: &mut A, index: usize) -> Result<i64, A::Error> {
                let volume = list.next_element()?;
                volume.map(|Volume(volume)| volume).ok_or_else(|| A::Error::invalid_length(index, self))
            }
        }

        impl<'de> Visitor<'de> for QuoteVisitor {
            type Value = LineQuote;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of four: [sell_price,buy_price,sell_volume,buy_volume]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LineQuote, A::Error> {
                let four = LineQuote {
                    sell_price: self.price(&mut list, 0)?,
                    buy_price: self.price(&mut list, 1)?,
                    sell_volume: self.volume(&mut list, 2)?,
                    buy_volume: self.volume(&mut list, 3)?,
                };
                let mut length = 4;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                if length == 4 { Ok(four) } else { Err(A::Error::invalid_length(length, &self)) }
            }
        }

        deserializer.deserialize_seq(QuoteVisitor)
    }
}

impl Kind for Bazaar {
    type Row = Prices;

    // The rows of one tick are written concurrently already.
    const CONCURRENCY: usize = 1;

    fn parse(line: &str, now: UnixSeconds) -> Result<Prices, BadLine> {
        let Line { recorded_at, products } = line::parse(line)?;
        let recorded_at = Tick::of(past("recorded_at", recorded_at, now)?);
        if products.is_empty() {
            return Err(BadLine::new("products: at least one must have a price"));
        }
        Ok(Prices { recorded_at, products })
    }

    async fn store(&self, prices: &Prices) -> Result<Stored, tables::Error> {
        let Prices { recorded_at: tick, products } = prices;
        let table = self.table.with_timeout(OPERATION_TIMEOUT);
        let mut complete = self.complete.lock().await;
        let complete = match &mut *complete {
            Some(complete) => complete,
            empty => empty.insert(CompleteSlots::read(table).await?),
        };
        match complete.status(*tick, products.len(), now()) {
            TickStatus::Open => {}
            TickStatus::Complete => return Ok(Stored::AlreadyThere),
            TickStatus::Expired => return Ok(Stored::TooOld),
        }
        let slots = open_slots(table, *tick, Some(products.len()), now()).await?;
        let filled = fill(table, *tick, &slots, products).await?;
        for slot in &filled {
            complete.insert(slot.holder);
        }
        // The recorder may have filled the slots in the meantime.
        Ok(if filled.is_empty() { Stored::AlreadyThere } else { Stored::Imported })
    }

    async fn rows(&self) -> Result<Rows<'_, Prices>, tables::Error> {
        let table = self.table.with_timeout(OPERATION_TIMEOUT);
        let ticks = bazaar::recorded_ticks(table, now().plus(EXPIRES_SOON)).await?;
        let total = u64::try_from(ticks.len()).ok();
        let rows = stream::iter(ticks).map(move |recorded| async move {
            let products = quotes(table, recorded).await?;
            if products.is_none() {
                // Another tick has replaced it since the ticks were listed, or its rows were changed by hand.
                let tick = recorded.tick;
                let _ = writeln!(io::stderr(), "{tick} is incomplete in the table and is skipped");
            }
            Ok(products.map(|products| Prices { recorded_at: recorded.tick, products }))
        });
        let rows = rows.buffered(READ_AHEAD).try_filter_map(|prices| std::future::ready(Ok(prices)));
        Ok((total, rows.boxed_local()))
    }
}
