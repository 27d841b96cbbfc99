//! Builds an hour: the candles of all items, and the texts from which averages are computed.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#sales` | the hour | `content`: the sales of each item (`hour_sales.rs`); `known` |
//! | `auctions#averages` | `built` | `changes`: how often an hour was written |

use std::collections::BTreeMap;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use super::candle::{Candle, Listed, Sold};
use super::hour_sales::{Counts, HourSales, KNOWN, sales_of_text, text_of};
use super::hour_text::{HOUR_TEXT, by_id, put};
use super::intervals::HOURS;
use super::list::{LIST_DELAY, SUCCESSIVE, known, lists, sold_between};
use super::minute::read::{RecordedMinute, recorded_minutes};
use super::packed::{CONTENT, Ids, content};
use super::sums::Sums;
use crate::error::Error;
use crate::item::{self, Attributes, Corrupt, integer, number, readable};
use crate::series::keys::{Slot, slot_key, slot_of};
use crate::session::Session;

const SALES: &str = "auctions#sales";
pub(super) const AVERAGES: &str = "auctions#averages";
pub(super) const BUILT: &str = "built";
pub(super) const CHANGES: &str = "changes";

/// The candles of all items in a slot.
pub type Candles = BTreeMap<AuctionItemId, Candle>;

/// The sales of an hour. Times count from the hour.
#[derive(Serialize, Deserialize)]
struct SalesText {
    ids: Ids,
    sales: Vec<String>,
}

/// Writes the sales of the hour, and returns the candles of the hour. The candles have the prices of the
/// hour's minutes and the sales that happened in the hour.
pub(super) async fn build(table: Session<'_>, hour: Slot) -> Result<Candles, Error> {
    let [start, end] = [hour.start, hour.end()];
    let lists = lists(table, start.minus(SUCCESSIVE), end.plus(LIST_DELAY)).await?;
    let sales = HourSales::of(sold_between(&lists, start, end), known(&lists, start, end));
    let Counts { sales: number, clean: clean_sales } = sales.counts();
    tracing::info!(hour = start.to_string(), sales = number, clean_sales, "sales of an hour");
    let stored = sales.store(table, start).await?;
    let minutes = recorded_minutes(table, start, end).await?;
    let candles = candles(&minutes, &stored);
    write_texts(table, hour, &stored, &candles, minutes.len()).await?;
    Ok(candles)
}

fn candles(minutes: &[RecordedMinute], sales: &HourSales) -> Candles {
    let mut candles = Candles::new();
    for (id, price) in minutes.iter().flat_map(|minute| &minute.prices) {
        let listed = Listed::of(*price);
        let candle = candles.entry(id.clone()).or_default();
        candle.listed = Some(candle.listed.map_or(listed, |earlier| earlier.followed_by(listed)));
    }
    for (id, sales) in &sales.items {
        candles.entry(id.clone()).or_default().sold = Sold::of(sales).map(|sold| sold.condensed());
    }
    candles
}

/// Writes the texts of an hour with these sales and candles, built from `minutes` recorded minutes. The sums
/// build on the sums of the previous hour, so the hours of a day must be written in order.
///
/// # Errors
/// If a row was not written before the deadline. Repeating the call completes it.
pub async fn write_texts(
    table: Session<'_>,
    hour: Slot,
    sales: &HourSales,
    candles: &Candles,
    minutes: usize,
) -> Result<(), Error> {
    let texts = sales.items.values().map(|sales| text_of(hour.start, sales)).collect();
    let text = SalesText { ids: Ids::of(sales.items.keys()), sales: texts };
    let known = i64::try_from(sales.known.as_millis()).unwrap_or(i64::MAX);
    put(table, SALES, hour, &text, (KNOWN, known)).await?;
    let minutes = i64::try_from(minutes).unwrap_or(i64::MAX);
    Sums::before(table, hour).await?.followed_by(candles, minutes).write(table, hour).await?;
    note_change(table).await
}

/// Counts that an hour was written, so that the averages are built again. A corrupt count is reset.
async fn note_change(table: Session<'_>) -> Result<(), Error> {
    let key = || item::key(AVERAGES, BUILT);
    let state = table.get(key()).await?;
    let is_corrupt = |state: &Attributes| state.contains_key(CHANGES) && integer(state, CHANGES).is_err();
    if state.as_ref().is_some_and(is_corrupt) {
        table.write("PutItem", table.put_item().set_item(Some(key())).send()).await?;
    }
    let changed = table
        .update_item()
        .set_key(Some(key()))
        .update_expression("ADD #changes :one")
        .expression_attribute_names("#changes", CHANGES)
        .expression_attribute_values(":one", number(1));
    table.write("UpdateItem", changed.send()).await.map(drop)
}

/// The rows with the sales of some hours, newest first. They are unpacked one at a time, because the sales of
/// a week take much memory.
pub(super) struct SalesRows(Vec<Attributes>);

impl SalesRows {
    /// Reads the rows of the hours from `first` to before `end`.
    pub(super) async fn read(
        table: Session<'_>,
        first: UnixSeconds,
        end: UnixSeconds,
    ) -> Result<Self, Error> {
        // The last hour may have been written a moment ago, so its read is consistent.
        let settled = HOURS.slot(UnixSeconds::new(end.get() - 1)).max(first);
        let mut rows = Vec::new();
        for (first, end) in [(settled, end), (first, settled)].into_iter().filter(|(first, end)| first < end)
        {
            let last = UnixSeconds::new(end.get() - 1);
            let query = table.query_between(SALES, slot_key(first), slot_key(last)).scan_index_forward(false);
            rows.extend(table.rows(query.consistent_read(first == settled), usize::MAX).await?);
        }
        Ok(Self(rows))
    }

    /// Returns each hour with its sales. A corrupt row is logged and skipped.
    pub(super) fn hours(&self) -> impl Iterator<Item = (UnixSeconds, HourSales)> {
        self.0
            .iter()
            .flat_map(|row| readable(std::slice::from_ref(row), SALES, |row| sales_in(row).map(Some)))
    }
}

fn sales_in(row: &Attributes) -> Result<(UnixSeconds, HourSales), Corrupt> {
    let hour = slot_of(&HOURS, row)?.start;
    let SalesText { ids, sales } = content(row, HOUR_TEXT)?;
    let sales: Option<Vec<_>> = sales.iter().map(|text| sales_of_text(hour, text)).collect();
    let sales = sales.ok_or(Corrupt::new(CONTENT, HOUR_TEXT))?;
    let known = Duration::from_millis(integer(row, KNOWN)?.unsigned_abs());
    Ok((hour, HourSales { known, items: by_id(&ids, sales.into_iter())? }))
}
