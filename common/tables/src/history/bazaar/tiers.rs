//! The tiers, and where their rows are.

use std::time::Duration;

use common::params::ItemId;
use common::time::{Tick, UnixSeconds};

use crate::history::slots::{parse_slot_key, shard, slot_key};

pub(super) const RECORDED_AT: &str = "recorded_at";
pub(super) const ROWS: &str = "rows";

/// Rows are kept for this long after they have left their tier's range. It is the longest interval, so that no row expires
/// that a query may need.
const MARGIN: Duration = Duration::from_hours(3);

/// One of the five resolutions of recorded prices.
#[derive(Debug, PartialEq, Eq)]
pub struct Tier {
    /// The name, which is also the interval.
    pub name: &'static str,
    /// The range of `GET /v1/bazaar/history` that the tier serves.
    pub range: &'static str,
    /// The time between two slots.
    pub interval: Duration,
    /// The number of slots in the range, the newest included. It is the maximum number of points in a response, and decides
    /// how long rows are kept: for the range and `MARGIN`.
    pub slots: u32,
    /// The number of shards.
    pub shards: u32,
}

/// The tiers, from fine to coarse.
///
/// The numbers of shards were chosen with the 1,913 ids and the prices of a real snapshot. Writing a row costs at least one
/// unit and a unit holds a kilobyte, so the rows of the finest tier, which takes three quarters of all units, are about a
/// kilobyte large. The coarse tiers are written rarely, but a query of them reads up to 720 rows, so their rows are smaller.
/// Of the possible numbers, these distribute the ids best: the largest shard takes 30 read units if every product has a price,
/// and all writes together take 7.8 million units per month. `tests/service/capacity` measures today's.
pub const TIERS: [Tier; 5] = [
    Tier { name: "1m", range: "1h", interval: Duration::from_mins(1), slots: 60, shards: 97 },
    Tier { name: "5m", range: "24h", interval: Duration::from_mins(5), slots: 288, shards: 190 },
    Tier { name: "30m", range: "7d", interval: Duration::from_mins(30), slots: 336, shards: 237 },
    Tier { name: "1h", range: "30d", interval: Duration::from_hours(1), slots: 720, shards: 869 },
    Tier { name: "3h", range: "90d", interval: Duration::from_hours(3), slots: 720, shards: 869 },
];

impl Tier {
    /// Returns the slot that contains the time.
    #[must_use]
    pub const fn slot(&self, time: UnixSeconds) -> UnixSeconds {
        time.rounded_down(self.interval)
    }

    /// Returns the oldest slot in the tier's range at the time `now`.
    pub(super) fn oldest_slot(&self, now: UnixSeconds) -> UnixSeconds {
        self.slot(now).minus(self.interval * (self.slots - 1))
    }

    /// Returns when the rows of this slot expire.
    pub(in crate::history) fn expires(&self, slot: UnixSeconds) -> UnixSeconds {
        slot.plus(self.interval * self.slots + MARGIN)
    }

    /// Whether `slot` is a slot of this tier and contains the time.
    pub(super) fn contains(&self, slot: UnixSeconds, time: UnixSeconds) -> bool {
        self.slot(time) == slot
    }

    /// Returns the shard of the product.
    pub(in crate::history) fn shard(&self, id: &ItemId) -> u32 {
        shard(id, self.shards)
    }

    /// Returns the partition key of the shard.
    pub(in crate::history) fn partition(&self, shard: u32) -> String {
        format!("bazaar#{}#{shard:03}", self.name)
    }

    /// Returns the partition key of the markers of complete slots.
    pub(super) fn markers(&self) -> String {
        format!("bazaar#{}", self.name)
    }
}

/// Returns the sort key of a tick's rows: it lies between the keys of this slot and the next one, in the order of ticks.
///
/// Nearly always the tick is the start of the slot. The key is then as short as possible, because a query reads hundreds.
pub(super) fn tick_key(slot: UnixSeconds, tick: Tick) -> String {
    match tick.time().get().saturating_sub(slot.get()) / 60 {
        0 => slot_key(slot),
        minutes => format!("{}#{minutes:03}", slot_key(slot)),
    }
}

/// Returns the slot and the tick in a sort key that [`tick_key`] has written. `None` for any other spelling.
pub(super) fn parse_tick_key(key: &str) -> Option<(UnixSeconds, Tick)> {
    let (slot, minutes) = match key.split_once('#') {
        None => (key, 0),
        Some((slot, minutes)) => {
            let is_number = minutes.len() == 3 && minutes.bytes().all(|byte| byte.is_ascii_digit());
            (slot, minutes.parse().ok().filter(|minutes| is_number && *minutes > 0)?)
        }
    };
    let slot = parse_slot_key(slot)?;
    Some((slot, Tick::of(slot.plus(Duration::from_mins(1) * minutes))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_tick_key_is_parsed_if_and_only_if_it_is_written_so(
            tier in 0..TIERS.len(),
            key in prop_oneof!["[0-9]{9,11}", "[+0-9]{10}#[+0-9]{2,4}", "1777(3[0-9]{3}0{2}|388460)(#[0-9]{3})?", any::<String>()],
            time in 0..4_000_000_000_i64,
        ) {
            let tier = &TIERS[tier];
            let tick = Tick::of(UnixSeconds::new(time));
            let slot = tier.slot(tick.time());
            prop_assert_eq!(parse_tick_key(&tick_key(slot, tick)), Some((slot, tick)));

            if let Some((slot, tick)) = parse_tick_key(&key) && tier.contains(slot, tick.time()) {
                prop_assert_eq!(tick_key(slot, tick), key);
            }
        }
    }

    /// Changing these numbers loses what is recorded: queries look for it elsewhere. To change one, rename its tier as well,
    /// and copy the rows with `cargo admin history`.
    #[test]
    fn rows_stay_where_they_are() {
        let layout = TIERS.each_ref().map(|tier| (tier.name, tier.shards));
        assert_eq!(layout, [("1m", 97), ("5m", 190), ("30m", 237), ("1h", 869), ("3h", 869)]);
        let id = "INK_SACK:3".parse().unwrap();
        let partitions = TIERS.each_ref().map(|tier| tier.partition(tier.shard(&id)));
        assert_eq!(
            partitions,
            ["bazaar#1m#085", "bazaar#5m#127", "bazaar#30m#030", "bazaar#1h#504", "bazaar#3h#504"]
        );
    }
}
