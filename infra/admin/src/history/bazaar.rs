//! Prices of the bazaar, one line for each tick. What a tick fills is decided as the recorder decides it.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use common::excerpt::Excerpt;
use common::json::whole_number;
use common::params::{InvalidValue, ItemId};
use common::time::{Tick, UnixSeconds};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;
use tables::Table;
use tables::history::bazaar::{
    self, CompleteSlots, Price, Quote, Quotes, TickStatus, fill, open_slots, quotes,
};
use tokio::sync::Mutex;

use super::line::{self, BadLine, past};
use super::{Kind, PATIENCE, Rows, Stored, now};

/// How many ticks are read ahead while one is written to the file.
const READ_AHEAD: usize = 4;
/// What expires while an export runs may be half deleted when its turn comes.
const EXPIRES_SOON: Duration = Duration::from_mins(15);

/// The table's prices.
pub(super) struct Bazaar {
    table: Table,
    /// What needs nothing is skipped without asking the table: of the minutes of a quarter that is nearly all of them.
    complete: Mutex<Option<CompleteSlots>>,
}

impl Bazaar {
    pub(super) fn of(table: Table) -> Self {
        Self { table, complete: Mutex::new(None) }
    }
}

/// What the products cost at a tick.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Prices {
    pub(super) recorded_at: Tick,
    pub(super) products: Quotes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    recorded_at: UnixSeconds,
    products: Products,
}

struct Products(Quotes);

/// What stands behind a product.
struct Four {
    sell_price: f64,
    buy_price: f64,
    sell_volume: i64,
    buy_volume: i64,
}

#[derive(Deserialize)]
struct Volume(#[serde(deserialize_with = "whole_number")] i64);

impl<'de> Deserialize<'de> for Four {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FourVisitor;

        impl FourVisitor {
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

        impl<'de> Visitor<'de> for FourVisitor {
            type Value = Four;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of four: [sell_price,buy_price,sell_volume,buy_volume]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Four, A::Error> {
                let four = Four {
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

        deserializer.deserialize_seq(FourVisitor)
    }
}

impl<'de> Deserialize<'de> for Products {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProductsVisitor;

        impl<'de> Visitor<'de> for ProductsVisitor {
            type Value = Products;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of products")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut products: A) -> Result<Products, A::Error> {
                let mut quotes = Quotes::new();
                while let Some(id) = products.next_key::<String>()? {
                    let Four { sell_price, buy_price, sell_volume, buy_volume } = products.next_value()?;
                    let refuse =
                        |reason: String| A::Error::custom(format_args!("{}: {reason}", Excerpt::of(&id)));
                    let quote = Quote::nearest(sell_price, buy_price, sell_volume, buy_volume);
                    let quote = quote.ok_or_else(|| {
                        refuse(format!(
                            "its prices must be from 0 to {:e} coins and its volumes at least 0, not \
                             [{sell_price:?},{buy_price:?},{sell_volume},{buy_volume}]",
                            Price::HIGHEST
                        ))
                    })?;
                    let item_id: ItemId = id.parse().map_err(|InvalidValue { allowed }| {
                        refuse(format!("an item id must be {allowed}"))
                    })?;
                    // The recorder leaves out what has no price, too.
                    let has_price = quote.sell_price.coins() > 0.0 || quote.buy_price.coins() > 0.0;
                    if has_price && quotes.insert(item_id, quote).is_some() {
                        return Err(refuse("it is there twice".to_owned()));
                    }
                }
                Ok(Products(quotes))
            }
        }

        deserializer.deserialize_map(ProductsVisitor)
    }
}

impl Kind for Bazaar {
    type Row = Prices;

    // The rows of a tick are written many at a time already.
    const AT_A_TIME: usize = 1;

    fn parse(line: &str, now: UnixSeconds) -> Result<Prices, BadLine> {
        let Line { recorded_at, products: Products(products) } = line::parse(line)?;
        let recorded_at = Tick::of(past("recorded_at", recorded_at, now)?);
        if products.is_empty() {
            return Err(BadLine::because("products: there must be at least one with a price"));
        }
        Ok(Prices { recorded_at, products })
    }

    async fn store(&self, prices: &Prices) -> Result<Stored, tables::Error> {
        let Prices { recorded_at: tick, products } = prices;
        let table = self.table.with_timeout(PATIENCE);
        let mut complete = self.complete.lock().await;
        let complete = match &mut *complete {
            Some(complete) => complete,
            empty => empty.insert(CompleteSlots::read(table).await?),
        };
        match complete.status(*tick, now()) {
            TickStatus::Open => {}
            TickStatus::Complete => return Ok(Stored::AlreadyThere),
            TickStatus::Expired => return Ok(Stored::TooOld),
        }
        let slots = open_slots(table, *tick, now()).await?;
        fill(table, *tick, &slots, products).await?;
        complete.insert(*tick);
        // It may have been recorded meanwhile.
        Ok(if slots.is_empty() { Stored::AlreadyThere } else { Stored::Imported })
    }

    async fn rows(&self) -> Result<Rows<'_, Prices>, tables::Error> {
        let table = self.table.with_timeout(PATIENCE);
        let ticks = bazaar::recorded_ticks(table, now().plus(EXPIRES_SOON)).await?;
        let total = u64::try_from(ticks.len()).ok();
        let rows = stream::iter(ticks).map(move |recorded| async move {
            let products = quotes(table, recorded).await?;
            if products.is_none() {
                // An earlier tick has replaced it since the ticks were listed, or somebody has touched its rows.
                let tick = recorded.tick;
                let _ = writeln!(io::stderr(), "{tick} is not whole in the table and is left out");
            }
            Ok(products.map(|products| Prices { recorded_at: recorded.tick, products }))
        });
        let rows = rows.buffered(READ_AHEAD).try_filter_map(|prices| std::future::ready(Ok(prices)));
        Ok((total, rows.boxed_local()))
    }
}
