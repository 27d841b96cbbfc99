//! Prices in the bazaar of the simulated past: the minutes of the last hour, as `record-bazaar` would have recorded them, and older candles, which are
//! computed from the game's prices. The candles in between are built of the minutes, as `record-candles` does it.

use std::collections::HashSet;
use std::time::Duration;

use common::time::{Tick, UnixSeconds};
use simulator::bazaar::{self, quotes};
use tables::bazaar::{Candle, Candles, INTERVALS, MINUTES, Quote, Quotes, SERIES, record};
use tables::series::{Candle as _, Interval, Slot, begin_at, build, build_again, is_due, recorded, store};
use tables::{Error, Session, Table};

use super::progress::State;

pub(super) const DAY: Duration = Duration::from_hours(24);
/// The number of recorded minutes: those of the shortest range; they are extended back to the start of a candle.
const RECORDED: Duration = Duration::from_mins(59);
/// The timeout of each request to the table.
pub(super) const TIMEOUT: Duration = Duration::from_mins(1);
/// The candles of a day are computed in parts of this length. It is an interval, so that no slot is in two parts.
const PART: Duration = Duration::from_hours(3);
/// How many parts make a day.
const PARTS: u32 = 8;
/// The number of times that the builder of candles runs at most, and the pause in between.
const MOST_RUNS: u32 = 100;
const BETWEEN_RUNS: Duration = Duration::from_millis(100);

/// Returns how far back candles of the interval go if prices go back this many days. A slot is 449 rows, so the finer the interval, the
/// shorter.
fn depth(interval: &Interval, days: u16) -> Duration {
    let days = match interval.name {
        "5m" => days.min(2),
        "30m" => days.min(7),
        "1d" => 90,
        _ => days.min(90),
    };
    DAY * days.into()
}

/// Which slots the past has.
#[derive(Debug, Clone, Copy)]
struct Extent {
    seed: u64,
    days: u16,
    /// Where candles end, and the recorded minutes begin.
    until: UnixSeconds,
    now: UnixSeconds,
}

impl Extent {
    fn of(seed: u64, days: u16, now: UnixSeconds) -> Self {
        let [finest, ..] = &INTERVALS;
        Self { seed, days, until: finest.slot(now.minus(RECORDED)), now }
    }

    fn has(self, slot: Slot) -> bool {
        let Slot { interval, start } = slot;
        start >= self.oldest(interval) && slot.end() <= self.until && interval.keeps(start, self.now)
    }

    /// Returns the oldest slot of the interval. Parts are whole, so that a coarse candle has all of its finer ones.
    fn oldest(self, interval: &Interval) -> UnixSeconds {
        let oldest = self.now.minus(depth(interval, self.days)).rounded_down(PART.max(interval.length));
        // A slot before 1970 has no key.
        oldest.max(UnixSeconds::new(0))
    }

    /// The minutes that are recorded, oldest first.
    fn minutes(self) -> impl Iterator<Item = UnixSeconds> {
        every(MINUTES.length, self.until, self.now.plus(Duration::from_secs(1)))
    }

    /// The days that have a slot, newest first.
    fn days(self) -> impl Iterator<Item = UnixSeconds> {
        let [.., daily] = &INTERVALS;
        let newest = daily.slot(self.until);
        let oldest = self.oldest(daily);
        std::iter::successors(Some(newest), |day| Some(day.minus(DAY))).take_while(move |day| *day >= oldest)
    }

    /// The slots of all intervals in the day.
    fn slots(self, day: UnixSeconds) -> impl Iterator<Item = Slot> {
        let of_interval = move |interval: &'static Interval| {
            every(interval.length, day, day.plus(DAY)).map(move |start| Slot { interval, start })
        };
        INTERVALS.iter().flat_map(of_interval).filter(move |slot| self.has(*slot))
    }

    /// Returns the candles of the slot, and adds them and the finer ones in it to `computed`, as far as the past has them. A coarse candle
    /// is made of finer ones. Where the past has none, it is made of the price at the start of each.
    fn compute(self, slot: Slot, computed: &mut Vec<(Slot, Candles)>) -> Candles {
        let mut whole = Candles::new();
        let finer = INTERVALS.iter().rev().find(|finer| finer.length < slot.interval.length);
        let length = finer.unwrap_or(&MINUTES).length;
        for start in every(length, slot.start, slot.end().min(self.until)) {
            let part = finer.map(|interval| Slot { interval, start });
            let is_computed = |part: &Slot| self.has(*part) || part.end() > self.until;
            let candles = match part.filter(is_computed) {
                Some(part) => self.compute(part, computed),
                None => of_minute(self.seed, start),
            };
            append(&mut whole, candles);
        }
        if self.has(slot) {
            computed.push((slot, whole.clone()));
        }
        whole
    }
}

/// Returns the times from `start` until before `end` that are this far apart.
pub(super) fn every(
    interval: Duration,
    start: UnixSeconds,
    end: UnixSeconds,
) -> impl Iterator<Item = UnixSeconds> {
    std::iter::successors(Some(start), move |time| Some(time.plus(interval)))
        .take_while(move |time| *time < end)
}

/// Adds later candles.
fn append(whole: &mut Candles, later: Candles) {
    for (id, later) in later {
        whole.entry(id).and_modify(|candle| *candle = candle.followed_by(later)).or_insert(later);
    }
}

/// The quotes that `record-bazaar` would record at this minute.
fn quotes_at(seed: u64, minute: UnixSeconds) -> Quotes {
    let quote = |bazaar::Quote { id, sell_price, buy_price, sell_volume, buy_volume }| {
        // Products without a price are not recorded.
        let is_priced = sell_price > 0.0 || buy_price > 0.0;
        let quote = Quote::nearest(sell_price, buy_price, sell_volume, buy_volume);
        Some((id.parse().ok()?, quote.filter(|_| is_priced)?))
    };
    quotes(seed, minute.get() * 1_000).filter_map(quote).collect()
}

fn of_minute(seed: u64, minute: UnixSeconds) -> Candles {
    quotes_at(seed, minute).into_iter().map(|(id, quote)| (id, Candle::of(quote, minute))).collect()
}

/// The prices of the past.
pub(super) struct Past {
    table: Table,
    extent: Extent,
}

impl Past {
    /// The prices of this many days before the time `now`.
    pub(super) fn new(table: Table, seed: u64, days: u16, now: UnixSeconds) -> Self {
        Self { table, extent: Extent::of(seed, days, now) }
    }

    /// The number of minutes and slots.
    pub(super) fn count(&self) -> usize {
        let slots = self.extent.days().map(|day| self.extent.slots(day).count());
        self.extent.minutes().count() + slots.sum::<usize>()
    }

    /// Stores the minutes of the last hour. What is there stays as it is.
    pub(super) async fn store_minutes(&self, state: &State) {
        state
            .retry("the beginning of candles".to_owned(), || {
                begin_at(self.session(), &SERIES, self.extent.until)
            })
            .await;
        for minute in self.extent.minutes() {
            state.retry(format!("the minute {minute}"), || self.store_minute(minute)).await;
            state.advance(1);
        }
    }

    /// Stores the candles, newest first. What is there stays as it is.
    pub(super) async fn store_candles(self, state: &State) {
        let mut known = HashSet::new();
        for interval in &INTERVALS {
            let recorded = recorded(self.session(), interval, self.extent.now).await;
            known.extend(recorded.unwrap_or_default().iter().map(|slot| (slot.interval.name, slot.start)));
        }
        for (number, day) in self.extent.days().enumerate() {
            self.store_day(day, &known, state).await;
            if number == 0 {
                // In a new table, the recorder has built no coarse candle that ends earlier.
                let part = self.extent.until.rounded_down(PART);
                let from = if known.iter().any(|(_, start)| *start < part) { day } else { part };
                state.retry("the candles of the last hour".to_owned(), || self.build(from)).await;
            }
        }
    }

    async fn store_minute(&self, minute: UnixSeconds) -> Result<(), Error> {
        let tick = Tick::of(minute);
        if is_due(self.session(), &MINUTES, tick, self.extent.now).await? {
            record(self.session(), tick, &quotes_at(self.extent.seed, minute)).await?;
        }
        Ok(())
    }

    async fn store_day(&self, day: UnixSeconds, known: &HashSet<(&'static str, UnixSeconds)>, state: &State) {
        let [.., parts, daily] = &INTERVALS;
        let extent = self.extent;
        let is_known = |slot: Slot| known.contains(&(slot.interval.name, slot.start));
        if extent.slots(day).all(is_known) {
            return state.advance(extent.slots(day).count() as u64);
        }
        let mut whole = Candles::new();
        for start in every(PART, day, day.plus(PART * PARTS).min(extent.until)) {
            let part = Slot { interval: parts, start };
            let computed = tokio::task::spawn_blocking(move || {
                let mut computed = Vec::new();
                let is_divided = extent.has(part) || part.end() > extent.until;
                let candles = if is_divided {
                    extent.compute(part, &mut computed)
                } else {
                    of_minute(extent.seed, start)
                };
                (candles, computed)
            });
            let (candles, computed) = computed.await.unwrap_or_default();
            append(&mut whole, candles);
            self.store_all(computed, is_known, state).await;
        }
        let whole_day = Slot { interval: daily, start: day };
        let whole = extent.has(whole_day).then_some((whole_day, whole));
        self.store_all(whole.into_iter().collect(), is_known, state).await;
    }

    async fn store_all(
        &self,
        computed: Vec<(Slot, Candles)>,
        is_known: impl Fn(Slot) -> bool,
        state: &State,
    ) {
        for (slot, candles) in computed {
            if !is_known(slot) {
                let store = || async { store(self.session(), slot, &candles).await.map(drop) };
                state.retry(format!("candles of {slot}"), store).await;
            }
            state.advance(1);
        }
    }

    /// Builds the candles of the recorded minutes, and coarse ones from this time on that the recorder has built without the finer
    /// ones that are stored now.
    async fn build(&self, from: UnixSeconds) -> Result<(), Error> {
        build_again(self.session(), &SERIES, from).await?;
        for _ in 0..MOST_RUNS {
            if build::<Candle>(self.session(), self.extent.now).await?.is_done {
                break;
            }
            // The recorder may be at work as well.
            tokio::time::sleep(BETWEEN_RUNS).await;
        }
        Ok(())
    }

    fn session(&self) -> Session<'_> {
        self.table.with_timeout(TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T15:05:10Z.
    const NOW: UnixSeconds = UnixSeconds::new(1_795_273_510);
    /// 2026-11-21T00:00:00Z.
    const MIDNIGHT: UnixSeconds = UnixSeconds::new(1_795_219_200);
    const ID: &str = "INK_SACK:3";

    #[test]
    fn every_interval_goes_back_as_far_as_it_says_without_gaps() {
        for days in [1, 7, 90] {
            let extent = Extent::of(1, days, NOW);
            let slots: Vec<_> = extent.days().flat_map(|day| extent.slots(day)).collect();
            for interval in &INTERVALS {
                let of_interval = slots.iter().filter(|slot| slot.interval == interval);
                let mut starts: Vec<_> = of_interval.map(|slot| slot.start).collect();
                starts.sort_unstable();
                let oldest = extent.oldest(interval);
                assert!(oldest <= NOW.minus(depth(interval, days)), "{}", interval.name);
                let end = interval.slot(extent.until);
                assert_eq!(
                    starts,
                    every(interval.length, oldest, end).collect::<Vec<_>>(),
                    "{}",
                    interval.name
                );
            }
        }
    }

    #[test]
    fn the_recorded_minutes_begin_with_a_candle_and_fill_the_shortest_range() {
        let minutes: Vec<_> = Extent::of(1, 1, NOW).minutes().collect();
        assert_eq!(minutes[0], INTERVALS[0].slot(minutes[0]));
        assert_eq!(minutes.last(), Some(&MINUTES.slot(NOW)));
        assert!((60..65).contains(&minutes.len()), "{}", minutes.len());
    }

    #[test]
    fn where_finer_candles_do_not_reach_a_candle_is_made_of_the_price_at_the_start_of_each() {
        for (interval, age, samples) in [(1, 4, 6), (2, 8, 2), (3, 8, 6)] {
            let start = MIDNIGHT.minus(DAY * age);
            let mut computed = Vec::new();
            let slot = Slot { interval: &INTERVALS[interval], start };
            let candles = Extent::of(1, 30, NOW).compute(slot, &mut computed);
            assert_eq!(candles[&ID.parse().unwrap()].samples, samples, "{}", slot.interval.name);
        }
    }
}
