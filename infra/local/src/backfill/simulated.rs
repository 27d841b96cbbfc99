//! Candles of a simulated game. Recording every minute of weeks would take hours, so they are computed from the game's prices. Like the
//! recorder's, a coarse candle is made of the finer ones that are stored beside it. Where they are missing, it is made of
//! the prices at the start of each finer interval.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use common::time::UnixSeconds;
use simulator::bazaar;
use tables::history::bazaar::Quote;
use tables::history::candles::{Candle, Candles, INTERVALS, Interval};

const MINUTE: Duration = Duration::from_mins(1);

/// A slot: the name of its interval and its start.
pub(super) type SlotName = (&'static str, UnixSeconds);

/// A slot and its candles.
pub(super) type Slot = (&'static Interval, UnixSeconds, Candles);

/// A period of time: its start and its end.
pub(super) type Period = (UnixSeconds, UnixSeconds);

/// Which slots the past has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Where the past starts, except that of days.
    pub(super) from: UnixSeconds,
    /// Where the past of days starts.
    pub(super) days_from: UnixSeconds,
    /// Where it ends, and the recorded minutes begin.
    pub(super) until: UnixSeconds,
    pub(super) now: UnixSeconds,
}

impl Extent {
    fn has(&self, interval: &'static Interval, slot: UnixSeconds) -> bool {
        let [.., day] = &INTERVALS;
        let from = if interval == day { self.days_from } else { self.from };
        // A slot before 1970 has no key.
        let from = from.max(UnixSeconds::new(0));
        slot >= from && interval.end(slot) <= self.until && interval.keeps(slot, self.now)
    }

    /// The slots of the interval in the period, in order.
    pub(super) fn slots(
        self,
        interval: &'static Interval,
        (start, end): Period,
    ) -> impl Iterator<Item = UnixSeconds> {
        slots(interval, (start, end)).filter(move |slot| self.has(interval, *slot))
    }
}

/// The slots of the interval in the period.
fn slots(interval: &'static Interval, period: Period) -> impl Iterator<Item = UnixSeconds> {
    every(interval.length, period)
}

/// The times in the period that are this far apart.
fn every(interval: Duration, (start, end): Period) -> impl Iterator<Item = UnixSeconds> {
    std::iter::successors(Some(start), move |time| Some(time.plus(interval)))
        .take_while(move |time| *time < end)
}

/// Returns the candles of the slots in the period, from coarse to fine and from new to old, except those that are known. The period
/// consists of whole slots of the intervals of which the past has slots there.
pub(super) fn compute(
    seed: u64,
    extent: Extent,
    period: Period,
    mut known: HashMap<SlotName, Candles>,
) -> Vec<Slot> {
    let known_slots: HashSet<SlotName> = known.keys().copied().collect();
    let mut levels = Vec::<(&'static Interval, BTreeMap<UnixSeconds, Candles>)>::new();
    for interval in &INTERVALS {
        let candles = |slot| match levels.last() {
            None => of_times(seed, every(MINUTE, (slot, interval.end(slot)))),
            Some((finer, candles)) => of_parts(seed, slots(finer, (slot, interval.end(slot))), candles),
        };
        let of_slot = |slot| {
            let known = known.remove(&(interval.name, slot));
            (slot, known.unwrap_or_else(|| candles(slot)))
        };
        let level = extent.slots(interval, period).map(of_slot).collect();
        levels.push((interval, level));
    }
    let slots = levels.into_iter().rev().flat_map(|(interval, candles)| {
        candles.into_iter().rev().map(move |(slot, candles)| (interval, slot, candles))
    });
    slots.filter(|(interval, slot, _)| !known_slots.contains(&(interval.name, *slot))).collect()
}

/// The candles of consecutive parts of an interval together.
fn of_parts(
    seed: u64,
    parts: impl Iterator<Item = UnixSeconds>,
    candles: &BTreeMap<UnixSeconds, Candles>,
) -> Candles {
    let mut whole = Candles::new();
    for part in parts {
        let at_start;
        let candles = if let Some(candles) = candles.get(&part) {
            candles
        } else {
            at_start = of_times(seed, std::iter::once(part));
            &at_start
        };
        for (id, later) in candles {
            match whole.get_mut(id) {
                Some(candle) => *candle = candle.followed_by(*later),
                None => drop(whole.insert(id.clone(), *later)),
            }
        }
    }
    whole
}

/// The candles of what `record-bazaar` would record at these times.
fn of_times(seed: u64, times: impl Iterator<Item = UnixSeconds>) -> Candles {
    let mut candles = HashMap::<&'static str, Candle>::new();
    for time in times {
        for bazaar::Quote { id, sell_price, buy_price, sell_volume, buy_volume } in
            bazaar::quotes(seed, time.get() * 1_000)
        {
            // Products without a price are not recorded.
            if sell_price <= 0.0 && buy_price <= 0.0 {
                continue;
            }
            let Some(quote) = Quote::nearest(sell_price, buy_price, sell_volume, buy_volume) else {
                continue;
            };
            let later = Candle::of(quote);
            candles.entry(id).and_modify(|candle| *candle = candle.followed_by(later)).or_insert(later);
        }
    }
    candles.into_iter().filter_map(|(id, candle)| Some((id.parse().ok()?, candle))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    /// 2026-11-21T00:00:00Z.
    const MIDNIGHT: UnixSeconds = UnixSeconds::new(1_795_219_200);

    fn extent() -> Extent {
        let until = MIDNIGHT.plus(Duration::from_mins(6 * 60 + 35));
        let days_from = MIDNIGHT.minus(DAY * 730);
        Extent { from: MIDNIGHT, days_from, until, now: until.plus(Duration::from_mins(62)) }
    }

    fn names(computed: &[Slot]) -> Vec<(&'static str, i64)> {
        computed
            .iter()
            .map(|(interval, slot, _)| (interval.name, (slot.get() - MIDNIGHT.get()) / 60))
            .collect()
    }

    #[test]
    fn a_period_has_the_slots_that_end_before_the_recorded_minutes_from_coarse_to_fine() {
        let period = (MIDNIGHT.plus(Duration::from_hours(6)), MIDNIGHT.plus(Duration::from_hours(9)));
        let computed = compute(1, extent(), period, HashMap::new());
        let expected = [360, 365, 370, 375, 380, 385, 390].map(|minute| ("5m", minute));
        let coarse = [("30m", 360)];
        let expected: Vec<_> = coarse.into_iter().chain(expected.into_iter().rev()).collect();
        assert_eq!(names(&computed), expected);
    }

    #[test]
    fn a_coarse_candle_is_made_of_finer_ones_and_the_finest_of_all_minutes() {
        let id = "INK_SACK:3".parse().unwrap();
        let period = (MIDNIGHT, MIDNIGHT.plus(Duration::from_hours(3)));
        let computed = compute(1, extent(), period, HashMap::new());
        assert_eq!(computed.len(), 1 + 3 + 6 + 36);
        let of = |name: &str| {
            let mut candles: Vec<_> =
                computed.iter().filter(|(interval, ..)| interval.name == name).collect();
            candles.sort_by_key(|(_, slot, _)| *slot);
            candles.into_iter().map(|(_, _, candles)| candles[&id]).collect::<Vec<_>>()
        };
        let whole = of("3h")[0];
        for name in ["5m", "30m", "1h"] {
            assert_eq!(of(name).into_iter().reduce(Candle::followed_by), Some(whole), "{name}");
        }
        let minute = |number: u32| {
            let time = MIDNIGHT.plus(MINUTE * number);
            let quote = bazaar::quotes(1, time.get() * 1_000).find(|quote| quote.id == "INK_SACK:3").unwrap();
            let bazaar::Quote { sell_price, buy_price, sell_volume, buy_volume, .. } = quote;
            Candle::of(Quote::nearest(sell_price, buy_price, sell_volume, buy_volume).unwrap())
        };
        assert_eq!((0..180).map(minute).reduce(Candle::followed_by), Some(whole));
        assert_eq!(whole.samples, 180);
        assert!(whole.sell.high > whole.sell.low, "{whole:?}");
        // The same seed gives the same past.
        assert_eq!(computed, compute(1, extent(), period, HashMap::new()));
        assert_ne!(computed, compute(2, extent(), period, HashMap::new()));
    }

    #[test]
    fn a_day_without_finer_candles_has_a_price_every_three_hours() {
        let midnight = MIDNIGHT.minus(DAY * 400);
        let computed = compute(1, extent(), (midnight, midnight.plus(DAY)), HashMap::new());
        let [(interval, slot, candles)] = computed.as_slice() else { panic!("{:?}", names(&computed)) };
        assert_eq!((interval.name, *slot), ("1d", midnight));
        assert_eq!(candles[&"INK_SACK:3".parse().unwrap()].samples, 8);
        assert!(candles.len() > 1_400, "{}", candles.len());
    }

    #[test]
    fn what_is_known_is_part_of_coarser_candles_and_not_computed() {
        let id: common::params::ItemId = "INK_SACK:3".parse().unwrap();
        let high = Candle::of(Quote::nearest(1e9, 1e9, 1, 1).unwrap());
        let known = HashMap::from([(("5m", MIDNIGHT), Candles::from([(id.clone(), high)]))]);
        let period = (MIDNIGHT, MIDNIGHT.plus(Duration::from_hours(3)));
        let computed = compute(1, extent(), period, known);
        assert_eq!(computed.len(), 3 + 6 + 36);
        assert!(!names(&computed).contains(&("5m", 0)));
        for (interval, slot, candles) in computed.iter().filter(|(_, slot, _)| *slot == MIDNIGHT) {
            assert!(candles[&id].sell.high == high.sell.high, "{} {slot}", interval.name);
        }
    }
}
