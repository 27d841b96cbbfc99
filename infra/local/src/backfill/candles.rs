//! Stores the candles of the simulated past, the newest first.
//!
//! The past ends where the recorded minutes begin: later candles are the recorder's. It builds a coarse candle of the finer ones that it
//! finds, and looks back to the newest one that is there. So within a period, coarse candles are stored before finer ones: then
//! it never finds the finer ones of an earlier period alone.

use std::collections::HashMap;
use std::time::Duration;

use common::time::UnixSeconds;
use tables::history::candles::{INTERVALS, Interval, RecordedSlot, candles, recorded_slots, store};
use tables::{Error, Session, Table};

use super::simulated::{Extent, Period, SlotName, compute};
use super::{ATTEMPTS, BACKOFF, State, WINDOW};

/// How far back candles of days go.
const DAYS_OF_DAYS: u32 = 2 * 365;
const DAY: Duration = Duration::from_hours(24);
/// The timeout of each request to the table.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The candles of the past.
pub(super) struct Past {
    table: Table,
    seed: u64,
    extent: Extent,
    /// Consecutive, the newest first.
    periods: Vec<Period>,
}

impl Past {
    /// The past of this many days, until the recorded minutes begin at `until`.
    pub(super) fn new(table: Table, seed: u64, days: u16, until: UnixSeconds, now: UnixSeconds) -> Self {
        let from = now.minus(DAY * days.into()).rounded_down(WINDOW);
        let days_from = now.minus(DAY * DAYS_OF_DAYS).rounded_down(DAY);
        let extent = Extent { from, days_from, until, now };
        Self { table, seed, extent, periods: periods(extent) }
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> u64 {
        INTERVALS.iter().map(|interval| self.slots_of(interval)).sum()
    }

    fn slots_of(&self, interval: &'static Interval) -> u64 {
        self.periods.iter().map(|period| self.extent.slots(interval, *period).count() as u64).sum()
    }

    /// Stores them. Slots that are there stay as they are.
    pub(super) async fn store(self, state: &State) {
        let mut waiting: Vec<_> =
            INTERVALS.iter().map(|interval| (interval, self.slots_of(interval))).collect();
        let known = attempt(|| recorded_slots(self.session(), self.extent.now)).await;
        let known = known.unwrap_or_else(|error| {
            state.logs.push(&format!("local: history: candles: {error}"));
            Vec::new()
        });
        let known: HashMap<SlotName, RecordedSlot> =
            known.into_iter().map(|known| ((known.interval.name, known.slot), known)).collect();
        for period in &self.periods {
            if period.0 < last_day(self.extent) {
                state.last_day.notify_one();
            }
            self.store_period(*period, &known, state).await;
            for (interval, waiting) in &mut waiting {
                let stored = self.extent.slots(interval, *period).count() as u64;
                *waiting -= stored;
                if stored > 0 && *waiting == 0 {
                    state.report_complete(format_args!("candles of {} are", interval.name));
                }
            }
        }
        state.last_day.notify_one();
    }

    async fn store_period(&self, period: Period, known: &HashMap<SlotName, RecordedSlot>, state: &State) {
        let slots = INTERVALS
            .iter()
            .flat_map(|interval| self.extent.slots(interval, period).map(|slot| (interval.name, slot)));
        let (known, missing): (Vec<_>, Vec<_>) =
            slots.map(|name| (name, known.get(&name))).partition(|(_, known)| known.is_some());
        state.advance(known.len() as u64);
        if missing.is_empty() {
            return;
        }
        let mut there = HashMap::new();
        for (name, recorded) in known {
            let Some(recorded) = recorded else { continue };
            match attempt(|| candles(self.session(), *recorded)).await {
                Ok(candles) => drop(there.insert(name, candles.unwrap_or_default())),
                Err(error) => state.fail(format_args!("candles of {} at {}: {error}", name.0, name.1)),
            }
        }
        let (seed, extent) = (self.seed, self.extent);
        let computed = tokio::task::spawn_blocking(move || compute(seed, extent, period, there)).await;
        for (interval, slot, candles) in computed.unwrap_or_default() {
            let stored = attempt(|| store(self.session(), interval, slot, None, &candles)).await;
            if let Err(error) = stored {
                state.fail(format_args!("candles of {} at {slot}: {error}", interval.name));
            }
            state.advance(1);
        }
    }

    fn session(&self) -> Session<'_> {
        self.table.with_timeout(TIMEOUT)
    }
}

/// The start of the day in which the past ends. The recorder builds the candle of this day.
fn last_day(extent: Extent) -> UnixSeconds {
    extent.until.rounded_down(DAY)
}

/// The periods of the past, the newest first: windows of the last day, so that the first charts are not empty for long, and the days
/// before.
fn periods(extent: Extent) -> Vec<Period> {
    let last_day = last_day(extent);
    let back = |start: UnixSeconds, length: Duration| {
        std::iter::successors(Some(start), move |start| Some(start.minus(length)))
            .map(move |start| (start, start.plus(length)))
    };
    let windows = back(extent.until.rounded_down(WINDOW), WINDOW).take_while(|(start, _)| *start >= last_day);
    let days = back(last_day.minus(DAY), DAY).take_while(|(start, _)| *start >= extent.days_from);
    windows.chain(days).collect()
}

/// Tries it a few times.
async fn attempt<T, F: Future<Output = Result<T, Error>>>(operation: impl Fn() -> F) -> Result<T, Error> {
    for _ in 1..ATTEMPTS {
        match operation().await {
            Err(_) => tokio::time::sleep(BACKOFF).await,
            done => return done,
        }
    }
    operation().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T15:05:10Z.
    const NOW: UnixSeconds = UnixSeconds::new(1_795_273_510);

    fn extent(days: u16, until: UnixSeconds) -> Extent {
        let from = NOW.minus(DAY * days.into()).rounded_down(WINDOW);
        Extent { from, days_from: NOW.minus(DAY * DAYS_OF_DAYS).rounded_down(DAY), until, now: NOW }
    }

    fn slots(extent: Extent) -> Vec<Vec<UnixSeconds>> {
        let periods = periods(extent);
        let slots = |interval| periods.iter().flat_map(|period| extent.slots(interval, *period)).collect();
        INTERVALS.iter().map(slots).collect()
    }

    #[test]
    fn every_interval_goes_back_as_far_as_the_past_and_days_go_back_two_years() {
        let until = NOW.rounded_down(Duration::from_mins(5)).minus(Duration::from_hours(1));
        for days in [1, 7, 90] {
            for (interval, mut slots) in INTERVALS.iter().zip(slots(extent(days, until))) {
                let count = slots.len();
                slots.sort_unstable();
                slots.dedup();
                assert_eq!(slots.len(), count, "{} has a slot twice", interval.name);
                let (oldest, newest) = (slots[0], slots[count - 1]);
                assert_eq!(newest, interval.slot(until).minus(interval.length), "{}", interval.name);
                let kept = interval.kept.map_or(Duration::MAX, |kept| kept.saturating_sub(DAY));
                let past = if interval.name == "1d" { DAY * 729 } else { DAY * days.into() };
                assert!(oldest <= NOW.minus(past.min(kept)), "{} starts at {oldest}", interval.name);
                assert!(interval.keeps(oldest, NOW), "{} starts at {oldest}", interval.name);
                let length =
                    Duration::from_secs((newest.get() - oldest.get()).cast_unsigned()) + interval.length;
                assert_eq!(
                    length,
                    interval.length * u32::try_from(count).unwrap(),
                    "{} has gaps",
                    interval.name
                );
            }
        }
    }

    #[test]
    fn an_early_clock_has_no_past_before_1970() {
        let now = UnixSeconds::new(80_000);
        let until = now.rounded_down(Duration::from_mins(5)).minus(Duration::from_hours(1));
        let (from, days_from) = (now.minus(DAY * 90), now.minus(DAY * 730).rounded_down(DAY));
        let slots = slots(Extent { from, days_from, until, now });
        assert!(slots.iter().flatten().all(|slot| slot.get() >= 0));
        assert_eq!(slots[4], []);
    }
}
