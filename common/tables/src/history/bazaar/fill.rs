//! Writes a tick: finds the slots that it must fill, and fills them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, WriteRequest};
use common::time::{Tick, UnixSeconds};
use serde::Serialize;

use super::complete::RecordedTick;
use super::quotes::Quotes;
use super::tiers::{RECORDED_AT, ROWS, TIERS, Tier, tick_key};
use crate::error::Error;
use crate::history::slots::{PRODUCTS, slot_key};
use crate::item::{self, Item, PARTITION_KEY, TIME_TO_LIVE, number, readable, text};
use crate::session::Session;

/// A slot that a tick may have to fill.
#[derive(Debug)]
pub struct OpenSlot {
    tier: &'static Tier,
    slot: UnixSeconds,
    marker: Marker,
}

/// What the marker of a slot says.
#[derive(Debug, Clone, Copy)]
enum Marker {
    /// It is missing.
    Absent,
    /// The slot is complete with this tick.
    Complete(RecordedTick),
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
    /// The tick that holds the slot now. It is another one if that one was recorded concurrently.
    #[serde(skip)]
    pub holder: RecordedTick,
}

impl Marker {
    fn of(tier: &'static Tier, marker: Option<&Item>) -> Self {
        let Some(marker) = marker else { return Self::Absent };
        let read = |marker: &Item| RecordedTick::of_marker(tier, marker).map(Some);
        let read = readable(std::slice::from_ref(marker), &tier.markers(), read);
        read.first().map_or(Self::Corrupt, |recorded| Self::Complete(*recorded))
    }

    /// Reads the marker of the slot as it is now.
    async fn read(table: Session<'_>, tier: &'static Tier, slot: UnixSeconds) -> Result<Self, Error> {
        let markers = table.get_all(vec![item::key(tier.markers(), slot_key(slot))]).await?;
        Ok(Self::of(tier, markers.first()))
    }

    const fn holder(&self) -> Option<&RecordedTick> {
        if let Self::Complete(recorded) = self { Some(recorded) } else { None }
    }
}

/// Returns the slots that the tick may have to fill: of each tier the one that contains the tick, unless another tick keeps it
/// whatever this one has, or its rows would have expired at the time `now`. No slot is returned if it is known that the tick fills
/// none of them: `products` is the number of its products, if it is known.
///
/// # Errors
/// If the table does not answer in time.
pub async fn open_slots(
    table: Session<'_>,
    tick: Tick,
    products: Option<usize>,
    now: UnixSeconds,
) -> Result<Vec<OpenSlot>, Error> {
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
        Marker::of(tier, markers.iter().find(is_of_tier))
    };
    let slots = slots.into_iter().map(|(tier, slot)| OpenSlot { tier, slot, marker: marker_of(tier) });
    let mut slots: Vec<_> = slots.collect();
    // A slot that the tick holds already says how many products it has, so that a repeated event needs no fetch.
    let own =
        slots.iter().filter_map(|slot| slot.marker.holder()).find(|holder| holder.tick == tick).copied();
    let known = products.or(own.and_then(|own| own.products));
    let is_open = |slot: &OpenSlot| match (slot.marker.holder(), known) {
        (None, _) => true,
        (Some(holder), Some(products)) => holder.yields_to(tick, products),
        (Some(holder), None) if own.is_some() => tick < holder.tick,
        (Some(holder), None) => holder.may_yield_to(tick),
    };
    if !slots.iter().any(is_open) {
        return Ok(Vec::new());
    }
    // The provider may show more now than when the event was recorded before.
    slots.retain(|slot| slot.marker.holder().is_none_or(|holder| holder.may_yield_to(tick)));
    Ok(slots)
}

/// Fills those of the slots that the quotes of the tick must fill, and returns them. After a failure, the same call completes
/// the slots.
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
    for slot in slots {
        filled.extend(fill_slot(table, tick, slot, quotes).await?);
    }
    Ok(filled)
}

/// The rows of a tick in one slot.
struct Written {
    shards: BTreeSet<u32>,
    write_units: f64,
}

/// Fills the slot, unless the tick that holds it keeps it.
async fn fill_slot(
    table: Session<'_>,
    tick: Tick,
    open: &OpenSlot,
    quotes: &Quotes,
) -> Result<Option<FilledSlot>, Error> {
    let &OpenSlot { tier, slot, mut marker } = open;
    let products = quotes.len();
    let mut written: Option<Written> = None;
    // Ticks whose rows this recorder has deleted: they cannot keep the slot, whatever the marker says of them by now.
    let mut removed = BTreeSet::new();
    loop {
        let holder = marker.holder().copied();
        let is_same_tick = holder.is_some_and(|holder| holder.tick == tick);
        let keeps =
            |holder: &RecordedTick| !holder.yields_to(tick, products) && !removed.contains(&holder.tick);
        if let Some(holder) = holder.filter(keeps) {
            let Some(Written { shards, write_units }) = &written else { return Ok(None) };
            let rows = shards.len();
            let own = RecordedTick { tick, tier, slot, rows, products: Some(products) };
            let filled =
                |holder| FilledSlot { tier: tier.name, slot, rows, write_units: *write_units, holder };
            if !is_same_tick {
                remove(table, tier, slot, tick, shards.iter().copied()).await?;
                return Ok(Some(filled(holder)));
            }
            // This recorder may have overwritten rows of another one that fetched more in the same minute. The marker must
            // not count what may be lost, so that a later tick takes the slot.
            if !holder.products.is_some_and(|others| own.yields_to(tick, others)) {
                return Ok(Some(filled(holder)));
            }
            if claim(table, own, marker).await? {
                return Ok(Some(filled(own)));
            }
            marker = Marker::read(table, tier, slot).await?;
            continue;
        }
        // Again after a failed claim: another recorder may have overwritten or deleted the rows in the meantime.
        let Written { shards, write_units } = write(table, tier, slot, tick, quotes).await?;
        if let Some(holder) = holder {
            let others = (0..tier.shards).filter(|shard| !is_same_tick || !shards.contains(shard));
            remove(table, tier, slot, holder.tick, others).await?;
            removed.extend((!is_same_tick).then_some(holder.tick));
        }
        let rows = shards.len();
        let holder = RecordedTick { tick, tier, slot, rows, products: Some(products) };
        if claim(table, holder, marker).await? {
            return Ok(Some(FilledSlot { tier: tier.name, slot, rows, write_units, holder }));
        }
        written = Some(Written { shards, write_units });
        marker = Marker::read(table, tier, slot).await?;
    }
}

async fn write(
    table: Session<'_>,
    tier: &Tier,
    slot: UnixSeconds,
    tick: Tick,
    quotes: &Quotes,
) -> Result<Written, Error> {
    let mut rows = BTreeMap::<u32, HashMap<String, AttributeValue>>::new();
    for (id, quote) in quotes {
        rows.entry(tier.shard(id)).or_default().insert(id.as_str().to_owned(), quote.attribute());
    }
    let shards = rows.keys().copied().collect();
    let puts = rows.into_iter().map(|(shard, products)| put(table, tier, shard, slot, tick, products));
    let write_units = table.write_all(puts.collect::<Result<_, _>>()?).await?;
    Ok(Written { shards, write_units })
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
    table.put_request(row)
}

/// Deletes rows of a tick from a slot that belongs, or is about to belong, to another one.
async fn remove(
    table: Session<'_>,
    tier: &Tier,
    slot: UnixSeconds,
    tick: Tick,
    shards: impl IntoIterator<Item = u32>,
) -> Result<(), Error> {
    let delete = |shard| table.delete_request(item::key(tier.partition(shard), tick_key(slot, tick)));
    let deletes = shards.into_iter().map(delete).collect::<Result<_, _>>()?;
    table.write_all(deletes).await.map(drop)
}

/// Writes the marker of the slot if it is still `before`, and returns whether it did.
async fn claim(table: Session<'_>, recorded: RecordedTick, before: Marker) -> Result<bool, Error> {
    let RecordedTick { tick, tier, slot, rows, products } = recorded;
    let mut marker = item::key(tier.markers(), slot_key(slot));
    marker.insert(RECORDED_AT.to_owned(), number(tick.time().get()));
    marker.insert(ROWS.to_owned(), number(rows));
    marker.extend(products.map(|products| (PRODUCTS.to_owned(), number(products))));
    marker.insert(TIME_TO_LIVE.to_owned(), number(tier.expires(slot).get()));
    let request = table.put_item().set_item(Some(marker));
    let request = match before {
        Marker::Corrupt => request,
        Marker::Absent => request.condition_expression("attribute_not_exists(recorded_at)"),
        Marker::Complete(RecordedTick { tick, products: None, .. }) => request
            .condition_expression("recorded_at = :before AND attribute_not_exists(products)")
            .expression_attribute_values(":before", number(tick.time().get())),
        Marker::Complete(RecordedTick { tick, products: Some(products), .. }) => request
            .condition_expression("recorded_at = :before AND products = :products")
            .expression_attribute_values(":before", number(tick.time().get()))
            .expression_attribute_values(":products", number(products)),
    };
    Ok(table.write("PutItem", request.send()).await?.is_some())
}
