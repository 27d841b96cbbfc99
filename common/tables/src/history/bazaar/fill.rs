//! Writes a tick: finds the slots that it must fill, and fills them.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, PutRequest, ReturnValue, WriteRequest};
use common::time::{Tick, UnixSeconds};
use serde::Serialize;

use super::complete::RecordedTick;
use super::quotes::Quotes;
use super::tiers::{PRODUCTS, RECORDED_AT, ROWS, TIERS, Tier, slot_key, tick_key};
use crate::error::Error;
use crate::item::{self, Item, PARTITION_KEY, TIME_TO_LIVE, number, readable, text};
use crate::session::Session;

/// A slot that a tick must fill.
#[derive(Debug)]
pub struct OpenSlot {
    tier: &'static Tier,
    slot: UnixSeconds,
    marker: Marker,
}

/// What the marker of an open slot says.
#[derive(Debug, Clone, Copy)]
enum Marker {
    /// There is none.
    Absent,
    /// The slot is complete with a later tick, which the new one replaces.
    LaterTick(Tick),
    /// It is corrupt.
    Corrupt,
}

/// A slot that was filled.
#[derive(Debug, Serialize)]
pub struct FilledSlot {
    /// The tier's name.
    pub tier: &'static str,
    /// The slot.
    pub slot: UnixSeconds,
    /// The number of its rows.
    pub rows: usize,
    /// The write units that the rows took.
    pub write_units: f64,
}

/// Returns the slots that the tick must fill: of each tier the one that contains the tick, unless it is complete with this or
/// an earlier tick, or its rows would have expired at the time `now`.
///
/// # Errors
/// If the table does not answer in time.
pub async fn open_slots(table: Session<'_>, tick: Tick, now: UnixSeconds) -> Result<Vec<OpenSlot>, Error> {
    let mut slots = Vec::new();
    for tier in &TIERS {
        let slot = tier.slot(tick.time());
        if tier.expires(slot) > now {
            slots.push((tier, slot));
        }
    }
    let keys = slots.iter().map(|(tier, slot)| item::key(tier.markers(), slot_key(*slot))).collect();
    let markers = table.get_all(keys).await?;
    let marker_of = |tier: &'static Tier| {
        let is_of_tier = |marker: &&Item| text(marker, PARTITION_KEY).is_ok_and(|key| key == tier.markers());
        let Some(marker) = markers.iter().find(is_of_tier) else { return Marker::Absent };
        let read = |marker: &Item| RecordedTick::of_marker(tier, marker).map(Some);
        let read = readable(std::slice::from_ref(marker), &tier.markers(), read);
        read.first().map_or(Marker::Corrupt, |recorded| Marker::LaterTick(recorded.tick))
    };
    let open = slots.into_iter().filter_map(|(tier, slot)| match marker_of(tier) {
        Marker::LaterTick(recorded) if recorded <= tick => None,
        marker => Some(OpenSlot { tier, slot, marker }),
    });
    Ok(open.collect())
}

/// Fills the slots with the quotes of the tick. After a failure, the same call completes the slots.
///
/// # Errors
/// If a part was not written before the deadline.
pub async fn fill(
    table: Session<'_>,
    tick: Tick,
    slots: &[OpenSlot],
    quotes: &Quotes,
) -> Result<Vec<FilledSlot>, Error> {
    let mut filled = Vec::with_capacity(slots.len());
    for &OpenSlot { tier, slot, marker } in slots {
        let mut shards = BTreeMap::<u32, HashMap<String, AttributeValue>>::new();
        for (id, quote) in quotes {
            shards.entry(tier.shard(id)).or_default().insert(id.as_str().to_owned(), quote.attribute());
        }
        let rows = shards.len();
        let puts = shards.into_iter().map(|(shard, products)| put(table, tier, shard, slot, tick, products));
        let write_units = table.write_all(puts.collect::<Result<_, _>>()?).await?;
        if let Marker::LaterTick(later) = marker {
            remove(table, tier, slot, later).await?;
        }
        match claim(table, RecordedTick { tick, tier, slot, rows }, marker).await? {
            // A later tick was completed after the marker was read.
            Claim::Won { replaced: Some(later) }
                if later > tick && !matches!(marker, Marker::LaterTick(read) if read == later) =>
            {
                remove(table, tier, slot, later).await?;
            }
            Claim::Won { .. } => {}
            Claim::LostToEarlierTick => remove(table, tier, slot, tick).await?,
        }
        filled.push(FilledSlot { tier: tier.name, slot, rows, write_units });
    }
    Ok(filled)
}

fn put(
    table: Session<'_>,
    tier: &Tier,
    shard: u32,
    slot: UnixSeconds,
    tick: Tick,
    products: HashMap<String, AttributeValue>,
) -> Result<WriteRequest, Error> {
    let mut row = item::key(tier.partition(shard), tick_key(slot, tick));
    row.insert(PRODUCTS.to_owned(), AttributeValue::M(products));
    row.insert(TIME_TO_LIVE.to_owned(), number(tier.expires(slot).get()));
    let put = PutRequest::builder().set_item(Some(row)).build();
    let put = put.map_err(|error| table.operation("BatchWriteItem").failed(error.to_string()))?;
    Ok(WriteRequest::builder().put_request(put).build())
}

/// Deletes the rows of a tick from a slot that belongs to another one. A query ignores them, so this only saves space.
async fn remove(table: Session<'_>, tier: &Tier, slot: UnixSeconds, tick: Tick) -> Result<(), Error> {
    let delete = |shard| {
        let key = item::key(tier.partition(shard), tick_key(slot, tick));
        let delete = DeleteRequest::builder().set_key(Some(key)).build();
        let delete = delete.map_err(|error| table.operation("BatchWriteItem").failed(error.to_string()))?;
        Ok(WriteRequest::builder().delete_request(delete).build())
    };
    let deletes = (0..tier.shards).map(delete).collect::<Result<_, _>>()?;
    table.write_all(deletes).await.map(drop)
}

/// The result of the claim to a slot.
enum Claim {
    /// The slot belongs to the tick now, and belonged to `replaced` before.
    Won { replaced: Option<Tick> },
    /// An earlier tick was completed in the meantime.
    LostToEarlierTick,
}

/// Writes the marker of the slot, unless an earlier tick was completed in the meantime.
async fn claim(table: Session<'_>, recorded: RecordedTick, marker: Marker) -> Result<Claim, Error> {
    let RecordedTick { tick, tier, slot, rows } = recorded;
    let request = table
        .put_item()
        .set_item(Some(item::key(tier.markers(), slot_key(slot))))
        .item(RECORDED_AT, number(tick.time().get()))
        .item(ROWS, number(rows))
        .item(TIME_TO_LIVE, number(tier.expires(slot).get()))
        .return_values(ReturnValue::AllOld);
    let request = match marker {
        Marker::Corrupt => request,
        Marker::Absent | Marker::LaterTick(_) => request
            .condition_expression("attribute_not_exists(recorded_at) OR recorded_at >= :tick")
            .expression_attribute_values(":tick", number(tick.time().get())),
    };
    let Some(response) = table.write("PutItem", request.send()).await? else {
        return Ok(Claim::LostToEarlierTick);
    };
    let replaced = response.attributes.and_then(|marker| RecordedTick::of_marker(tier, &marker).ok());
    Ok(Claim::Won { replaced: replaced.map(|replaced| replaced.tick) })
}
