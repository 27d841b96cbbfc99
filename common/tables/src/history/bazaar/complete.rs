//! Markers of complete slots: which ticks are recorded, and the quotes of such a tick.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use common::params::ItemId;
use common::time::{Tick, UnixSeconds};

use super::quotes::{Quote, Quotes, corrupt_products};
use super::tiers::{RECORDED_AT, ROWS, TIERS, Tier, tick_key};
use crate::error::Error;
use crate::history::slots::{FIRST_SLOT, LAST_SLOT, PRODUCTS, slot_key};
use crate::item::{self, Corrupt, Item, SORT_KEY, integer, readable, text};
use crate::session::Session;

/// A tick that is completely recorded in a slot of a tier.
#[derive(Debug, Clone, Copy)]
pub struct RecordedTick {
    /// The tick.
    pub tick: Tick,
    pub(super) tier: &'static Tier,
    pub(super) slot: UnixSeconds,
    pub(super) rows: usize,
    /// The number of its products. `None` if a version wrote the marker that did not count them.
    pub(super) products: Option<usize>,
}

impl RecordedTick {
    /// Reads a marker.
    pub(super) fn of_marker(tier: &'static Tier, marker: &Item) -> Result<Self, Corrupt> {
        let slot = text(marker, SORT_KEY)?.parse().map(UnixSeconds::new);
        let slot = slot.map_err(|_| Corrupt::new(SORT_KEY, "a time in Unix seconds"))?;
        let recorded_at = UnixSeconds::new(integer(marker, RECORDED_AT)?);
        let tick = Tick::of(recorded_at);
        if tick.time() != recorded_at || !tier.contains(slot, recorded_at) {
            return Err(Corrupt::new(RECORDED_AT, "a tick in its slot"));
        }
        let count = |attribute| {
            usize::try_from(integer(marker, attribute)?).map_err(|_| Corrupt::new(attribute, "a count"))
        };
        let products = marker.contains_key(PRODUCTS).then(|| count(PRODUCTS)).transpose()?;
        Ok(Self { tick, tier, slot, rows: count(ROWS)?, products })
    }

    /// The number of its products. `None` if a version wrote the marker that did not count them.
    pub(in crate::history) const fn products(&self) -> Option<usize> {
        self.products
    }

    /// Whether the slot must be given to `tick`, which has this number of products. It is given to the earlier of two ticks,
    /// unless that one has less than half of the products of the other. A tick that was not counted counts as full.
    pub(super) fn yields_to(&self, tick: Tick, products: usize) -> bool {
        let is_less_than_half = |products: usize, of: usize| products.saturating_mul(2) < of;
        if tick < self.tick {
            // Each row has a product.
            !is_less_than_half(products, self.products.unwrap_or(self.rows))
        } else {
            self.products.is_some_and(|own| is_less_than_half(own, products))
        }
    }

    /// Whether the slot may have to be given to `tick`, whose number of products is not known yet.
    pub(super) fn may_yield_to(&self, tick: Tick) -> bool {
        tick < self.tick || self.products.is_some()
    }
}

/// Returns every tick that is completely recorded in some tier, oldest first. Rows that have expired at the time `now` do not
/// count: DynamoDB deletes them late and in no order.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded_ticks(table: Session<'_>, now: UnixSeconds) -> Result<Vec<RecordedTick>, Error> {
    let mut ticks = BTreeMap::new();
    for tier in &TIERS {
        for recorded in complete_slots(table, tier).await? {
            if tier.expires(recorded.slot) > now {
                // The finer tier has fewer shards to read.
                ticks.entry(recorded.tick).or_insert(recorded);
            }
        }
    }
    Ok(ticks.into_values().collect())
}

/// Returns the oldest tick that a query can still find at the time `now`, in the tier with the longest range; `None` if there is
/// none. Reads one row.
///
/// # Errors
/// If the table does not answer in time.
pub async fn recorded_since(table: Session<'_>, now: UnixSeconds) -> Result<Option<UnixSeconds>, Error> {
    let [.., tier] = &TIERS;
    let first = tier.oldest_slot(now).clamp(FIRST_SLOT, LAST_SLOT);
    let markers = table.rows(markers(table, tier, first, LAST_SLOT), 1).await?;
    Ok(recorded(tier, &markers).first().map(|recorded| recorded.tick.time()))
}

/// Returns the complete slots of a tier, in order.
async fn complete_slots(table: Session<'_>, tier: &'static Tier) -> Result<Vec<RecordedTick>, Error> {
    complete_between(table, tier, FIRST_SLOT, LAST_SLOT).await
}

/// Returns the complete slots of a tier from `first` until before `end`, in order.
///
/// # Errors
/// If the table does not answer in time.
pub(in crate::history) async fn complete_between(
    table: Session<'_>,
    tier: &'static Tier,
    first: UnixSeconds,
    end: UnixSeconds,
) -> Result<Vec<RecordedTick>, Error> {
    if first >= end {
        return Ok(Vec::new());
    }
    let last = UnixSeconds::new(end.get() - 1);
    let markers = table.rows(markers(table, tier, first, last), usize::MAX).await?;
    Ok(recorded(tier, &markers))
}

/// Returns a query of the tier's markers from `first` to `last`.
fn markers(table: Session<'_>, tier: &Tier, first: UnixSeconds, last: UnixSeconds) -> QueryFluentBuilder {
    table.query_between(&tier.markers(), slot_key(first), slot_key(last)).consistent_read(true)
}

fn recorded(tier: &'static Tier, markers: &[Item]) -> Vec<RecordedTick> {
    readable(markers, &tier.markers(), |marker| RecordedTick::of_marker(tier, marker).map(Some))
}

/// Returns the quotes of a recorded tick, or `None` if rows of it are missing or corrupt.
///
/// # Errors
/// If the table does not answer in time.
pub async fn quotes(table: Session<'_>, recorded: RecordedTick) -> Result<Option<Quotes>, Error> {
    let RecordedTick { tick, tier, slot, rows: expected, .. } = recorded;
    let keys = (0..tier.shards).map(|shard| item::key(tier.partition(shard), tick_key(slot, tick))).collect();
    let rows = table.get_all(keys).await?;
    let shards = readable(&rows, tier.name, |row| {
        let products = row.get(PRODUCTS).and_then(|products| products.as_m().ok());
        let products = products.ok_or_else(corrupt_products)?.iter();
        let quotes = products.map(|(id, quote)| Some((id.parse().ok()?, Quote::of_attribute(quote)?)));
        quotes.collect::<Option<Vec<(ItemId, Quote)>>>().ok_or_else(corrupt_products).map(Some)
    });
    // Two concurrent recorders of one tick may have fetched different products, and so written different shards.
    Ok((shards.len() >= expected).then(|| shards.into_iter().flatten().collect()))
}

/// Whether a tick must be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TickStatus {
    /// It has slots to fill, as far as is known: [`open_slots`](super::open_slots) returns them.
    Open,
    /// Its slots are complete with it or with other ticks, which keep them.
    Complete,
    /// All its rows would have expired.
    Expired,
}

/// The slots that are known to be complete. An import of many ticks uses them to skip ticks without a request.
#[derive(Debug, Default)]
pub struct CompleteSlots(HashMap<(&'static str, UnixSeconds), RecordedTick>);

impl CompleteSlots {
    /// Reads the slots that are complete now.
    ///
    /// # Errors
    /// If the table does not answer in time.
    pub async fn read(table: Session<'_>) -> Result<Self, Error> {
        let mut complete = Self::default();
        for tier in &TIERS {
            complete_slots(table, tier).await?.into_iter().for_each(|recorded| complete.insert(recorded));
        }
        Ok(complete)
    }

    /// Returns the status of the tick, which has this number of products, at the time `now`.
    #[must_use]
    pub fn status(&self, tick: Tick, products: usize, now: UnixSeconds) -> TickStatus {
        let mut status = TickStatus::Expired;
        for tier in &TIERS {
            let slot = tier.slot(tick.time());
            if tier.expires(slot) > now {
                match self.0.get(&(tier.name, slot)) {
                    Some(complete) if !complete.yields_to(tick, products) => status = TickStatus::Complete,
                    _ => return TickStatus::Open,
                }
            }
        }
        status
    }

    /// Notes that a slot is complete with this tick.
    pub fn insert(&mut self, recorded: RecordedTick) {
        self.0.insert((recorded.tier.name, recorded.slot), recorded);
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;
    use proptest::prelude::*;

    use super::*;
    use crate::item;

    fn recorded(minute: i64, rows: usize, products: Option<usize>) -> RecordedTick {
        let [_, _, _, _, tier] = &TIERS;
        let tick = tick(minute);
        RecordedTick { tick, tier, slot: tier.slot(tick.time()), rows, products }
    }

    fn tick(minute: i64) -> Tick {
        Tick::of(UnixSeconds::new(minute * 60))
    }

    #[test]
    fn a_slot_yields_to_earlier_ticks_and_to_ticks_with_more_than_twice_as_many_products() {
        let counted = recorded(5, 1, Some(100));
        let not_counted = recorded(5, 40, None);
        for (holder, minute, products, expected) in [
            (counted, 6, 201, true),
            (counted, 6, 200, false),
            (counted, 5, 201, true),
            (counted, 5, 100, false),
            (counted, 4, 50, true),
            (counted, 4, 49, false),
            (not_counted, 6, 10_000, false),
            (not_counted, 4, 20, true),
            (not_counted, 4, 19, false),
        ] {
            assert_eq!(
                holder.yields_to(tick(minute), products),
                expected,
                "{holder:?}: {minute}, {products}"
            );
            assert!(holder.may_yield_to(tick(minute)) || !expected, "{holder:?}: {minute}");
        }
    }

    proptest! {
        #[test]
        fn of_two_ticks_the_same_one_gets_the_slot_in_either_order(
            minutes in (0..180_i64, 0..180_i64),
            products in (1..3_000_usize, 1..3_000_usize),
        ) {
            prop_assume!(minutes.0 != minutes.1);
            let (one, other) = (recorded(minutes.0, 1, Some(products.0)), recorded(minutes.1, 1, Some(products.1)));
            prop_assert_ne!(one.yields_to(other.tick, products.1), other.yields_to(one.tick, products.0));
        }

        #[test]
        fn a_marker_with_any_numbers_is_read_or_corrupt(
            slot in any::<i64>(),
            recorded_at in prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)],
            rows in any::<i64>(),
            products in any::<Option<i64>>(),
            is_of_its_slot in any::<bool>(),
        ) {
            for tier in &TIERS {
                let time = UnixSeconds::new(recorded_at);
                let slot = if is_of_its_slot { tier.slot(time).get() } else { slot };
                let mut marker = item::key("bazaar#1m", slot.to_string());
                let number = |number: i64| AttributeValue::N(number.to_string());
                marker.insert(RECORDED_AT.to_owned(), number(recorded_at));
                marker.insert(ROWS.to_owned(), number(rows));
                marker.extend(products.map(|products| (PRODUCTS.to_owned(), number(products))));
                if let Ok(recorded) = RecordedTick::of_marker(tier, &marker) {
                    prop_assert_eq!(recorded.tick.time(), time);
                    prop_assert!(rows >= 0 && products.is_none_or(|products| products >= 0));
                    // Nothing that follows from it fails either.
                    recorded.yields_to(recorded.tick, usize::MAX);
                    tier.expires(recorded.slot);
                    tick_key(recorded.slot, recorded.tick);
                }
            }
        }
    }
}
