//! Builds candles: candles of the finest interval from minutes, and candles of a coarser interval from finer
//! candles.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use common::time::UnixSeconds;
use serde::Serialize;

use super::candle::SeriesCandle;
use super::keys::{FIRST_SLOT, LAST_SLOT, Slot};
use super::marker::{Found, oldest, recorded_between, rows_of_slot};
use super::progress::Progress;
use super::rows::{Changed, merge, parts};
use crate::error::Error;
use crate::session::Session;

/// A run stops building a series after this many slots. It still completes the slots that end at the same
/// time as the last one.
const MOST_SLOTS: usize = 24;
/// A run also stops building a series after this time. A run builds two series, which take most of its 50
/// seconds.
const LONGEST: Duration = Duration::from_secs(18);

/// The maximum number of markers that a run reads per interval.
const MOST_MARKERS: usize = 300;

/// The number of earlier slots of the finest interval that a run's heartbeat includes again, because the runs
/// that built them may have been killed before they updated the heartbeat.
const NOTED_SLOTS: u32 = 24;

#[derive(Debug, Serialize)]
pub struct BuiltSlot {
    pub interval: &'static str,
    pub slot: UnixSeconds,
    /// The number of changed rows.
    pub rows: usize,
    /// The write units that these rows took.
    pub write_units: f64,
}

/// The result of one run.
#[derive(Debug)]
pub struct Built {
    /// The slots that were built; empty if there was nothing to do.
    pub slots: Vec<BuiltSlot>,
    /// Every candle that ends by this time is built.
    pub until: UnixSeconds,
    /// Whether nothing is left to build.
    pub is_done: bool,
    noted_from: UnixSeconds,
}

/// Builds the candles that have ended at the time `now`, from old to new; candles that end at the same time
/// from fine to coarse. Then rebuilds the candles for which data was added later. A run builds a bounded
/// number of slots, and the next run continues.
pub async fn build<C: SeriesCandle>(table: Session<'_>, now: UnixSeconds) -> Result<Built, Error> {
    let finest = C::SERIES.finest;
    let settled = settled::<C>(now);
    let mut run = Run::<C>::new(table, now).await?;
    let before = run.progress.until;
    // If another run is active, this run continues from the other run's progress.
    while !run.build(settled).await? {
        run.progress = Progress::read(table, C::SERIES).await?;
    }
    let Run { progress, slots, .. } = run;
    let is_done = progress == Progress { until: Some(settled), added: None, again: None };
    let until = progress.until.unwrap_or(settled);
    let noted_from = before.unwrap_or(until).minus(finest.length * NOTED_SLOTS);
    Ok(Built { slots, until, is_done, noted_from })
}

/// Returns the length of the settled period that has no candles yet at the time `now`.
pub async fn behind<C: SeriesCandle>(table: Session<'_>, now: UnixSeconds) -> Result<Duration, Error> {
    let settled = settled::<C>(now);
    let from = Run::<C>::new(table, now).await?.begin(settled).await?;
    Ok(Duration::from_secs(u64::try_from(settled.get().saturating_sub(from.get())).unwrap_or_default()))
}

/// Returns the oldest minute with data that has not expired at the time `now`.
async fn oldest_minute<C: SeriesCandle>(
    table: Session<'_>,
    now: UnixSeconds,
) -> Result<Option<UnixSeconds>, Error> {
    let first = C::SERIES.minutes.oldest_slot(now).unwrap_or(FIRST_SLOT);
    Ok(C::minutes_between(table, first, LAST_SLOT, 1).await?.times.first().copied())
}

/// Whether the series has neither minutes nor candles of the finest interval. After a long outage, all
/// minutes have expired.
pub async fn is_empty<C: SeriesCandle>(table: Session<'_>, now: UnixSeconds) -> Result<bool, Error> {
    Ok(oldest_minute::<C>(table, now).await?.is_none()
        && oldest(table, C::SERIES.finest, now).await?.is_none())
}

/// Returns the time up to which slots are settled at the time `now`.
fn settled<C: SeriesCandle>(now: UnixSeconds) -> UnixSeconds {
    C::SERIES.finest.slot(now.minus(C::SERIES.settle))
}

/// Returns the ends of the candles of the finest interval that this run and the runs shortly before it built
/// from minutes, in order.
pub async fn ends<C: SeriesCandle>(table: Session<'_>, built: &Built) -> Result<Vec<UnixSeconds>, Error> {
    let Built { noted_from, until, .. } = *built;
    let minutes = recorded_between(table, C::SERIES.minutes, noted_from, until, usize::MAX).await?;
    let ends: BTreeSet<_> = minutes.iter().map(|minute| C::SERIES.finest.at(minute.start).end()).collect();
    Ok(ends.into_iter().collect())
}

struct Run<'a, C> {
    table: Session<'a>,
    now: UnixSeconds,
    progress: Progress,
    begun: Instant,
    /// The number of slots that the run has looked at.
    looked_at: usize,
    slots: Vec<BuiltSlot>,
    candle: PhantomData<C>,
}

impl<'a, C: SeriesCandle> Run<'a, C> {
    async fn new(table: Session<'a>, now: UnixSeconds) -> Result<Self, Error> {
        Ok(Self {
            table,
            now,
            progress: Progress::read(table, C::SERIES).await?,
            begun: Instant::now(),
            looked_at: 0,
            slots: Vec::new(),
            candle: PhantomData,
        })
    }

    /// Builds the slots that have ended, and then rebuilds slots with added data. Returns `false` if another
    /// run has changed the progress.
    async fn build(&mut self, settled: UnixSeconds) -> Result<bool, Error> {
        let from = self.begin(settled).await?;
        let after = Progress { until: Some(from), ..self.progress };
        // Slots from the old frontier to `from` have lost minutes, but may still have finer candles, so they
        // count as added.
        let skipped = self.progress.until.filter(|until| *until < from);
        // Data that was added for times after `from` needs no rebuilding: its slots are built below for the
        // first time.
        let finest = C::SERIES.finest;
        let added_before = self.progress.added.filter(|added| finest.slot(*added) < from);
        let added = added_before.into_iter().chain(skipped).min();
        Ok(self.advance(Progress { added, ..after }).await?
            && self
                .build_between(from, settled, |progress, end| Progress { until: Some(end), ..progress })
                .await?
            && self.build_again().await?)
    }

    /// Returns the frontier from which the run builds.
    async fn begin(&self, settled: UnixSeconds) -> Result<UnixSeconds, Error> {
        let finest = C::SERIES.finest;
        let until = if let Some(until) = self.progress.until {
            until
        } else {
            let oldest = oldest_minute::<C>(self.table, self.now).await?;
            oldest.map_or(settled, |oldest| finest.slot(oldest).min(settled))
        };
        Ok(until.max(self.first_whole().min(settled)))
    }

    /// Returns the first slot of the finest interval whose minutes are all kept. DynamoDB deletes expired
    /// minutes one by one.
    fn first_whole(&self) -> UnixSeconds {
        let finest = C::SERIES.finest;
        C::SERIES.minutes.oldest_slot(self.now).map_or(FIRST_SLOT, |oldest| finest.end(finest.slot(oldest)))
    }

    /// Whether the run has reached its limit.
    fn is_over(&self) -> bool {
        self.looked_at >= MOST_SLOTS || self.begun.elapsed() > LONGEST
    }

    /// Stores the progress. Returns `false` if another run has changed the stored progress.
    async fn advance(&mut self, after: Progress) -> Result<bool, Error> {
        let is_alone = after == self.progress || self.progress.advance(self.table, C::SERIES, after).await?;
        if is_alone {
            self.progress = after;
        }
        Ok(is_alone)
    }

    /// Builds the slots that end after `from` and by `to`, until the run reaches its limit. After each end,
    /// stores the progress that `at` returns. Returns `false` if another run has changed the progress.
    async fn build_between(
        &mut self,
        from: UnixSeconds,
        to: UnixSeconds,
        at: impl Fn(Progress, UnixSeconds) -> Progress,
    ) -> Result<bool, Error> {
        let (due, known) = self.due(from, to).await?;
        for (end, due) in due {
            if self.is_over() {
                return Ok(true);
            }
            for slot in due {
                self.build_slot(slot).await?;
            }
            if !self.advance(at(self.progress, end)).await? {
                return Ok(false);
            }
        }
        if known > from { self.advance(at(self.progress, known)).await } else { Ok(true) }
    }

    /// Rebuilds the candles for which data was added. Returns `false` if another run has changed the
    /// progress.
    async fn build_again(&mut self) -> Result<bool, Error> {
        let Progress { until: Some(until), added, again } = self.progress else { return Ok(true) };
        let finest = C::SERIES.finest;
        let Some(from) = added.into_iter().chain(again).min() else { return Ok(true) };
        if self.is_over() {
            return Ok(true);
        }
        let from = finest.slot(from).max(FIRST_SLOT);
        let claimed = Progress { added: None, again: Some(from), ..self.progress };
        if !self.advance(claimed).await? {
            return Ok(false);
        }
        let at = |progress, end| Progress { again: (end < until).then_some(end), ..progress };
        if from >= until {
            return self.advance(at(self.progress, until)).await;
        }
        self.build_between(from, until, at).await
    }

    /// Returns the slots that end after `from` and by `to`, and that have minutes or finer candles. They are
    /// grouped by their ends, and sorted from fine to coarse. Also returns the time up to which the list is
    /// complete.
    async fn due(
        &self,
        from: UnixSeconds,
        to: UnixSeconds,
    ) -> Result<(BTreeMap<UnixSeconds, Vec<Slot>>, UnixSeconds), Error> {
        let finest = C::SERIES.finest;
        let mut due = BTreeMap::<UnixSeconds, Vec<Slot>>::new();
        let mut known = to;
        let mut sources = C::SERIES.minutes;
        let mut parts = BTreeSet::new();
        for interval in C::SERIES.intervals {
            let first =
                if sources == C::SERIES.minutes { from.max(self.first_whole()) } else { interval.slot(from) };
            let found = if sources == C::SERIES.minutes {
                C::minutes_between(self.table, first, to, MOST_MARKERS).await?
            } else {
                Found::recorded(self.table, sources, first, to, MOST_MARKERS).await?
            };
            if found.until < to {
                known = known.min(finest.slot(found.until));
            }
            // Slots that this run builds are also sources of coarser slots.
            parts.extend(found.times);
            let slots: BTreeSet<_> = parts.iter().map(|part| interval.slot(*part)).collect();
            let is_due = |slot: &UnixSeconds| {
                let end = interval.end(*slot);
                from < end && end <= to && interval.keeps(*slot, self.now)
            };
            parts = slots.into_iter().filter(is_due).collect();
            for start in &parts {
                let slot = Slot { interval, start: *start };
                due.entry(slot.end()).or_default().push(slot);
            }
            sources = interval;
        }
        due.retain(|end, _| *end <= known);
        Ok((due, known))
    }

    /// Builds the candles of the slot from finer candles, or from minutes if there is no finer interval.
    async fn build_slot(&mut self, slot: Slot) -> Result<(), Error> {
        self.looked_at += 1;
        let finer = C::SERIES.intervals.iter().rev().find(|finer| finer.length < slot.interval.length);
        let candles = if let Some(finer) = finer {
            parts::<C>(self.table, finer, slot).await?
        } else {
            C::build(self.table, slot).await?
        };
        if candles.is_empty() {
            return Ok(());
        }
        let marked = rows_of_slot(self.table, slot).await?;
        let Changed { rows, write_units } = merge(self.table, slot, &candles, marked).await?;
        let Slot { interval, start } = slot;
        if rows > 0 {
            self.slots.push(BuiltSlot { interval: interval.name, slot: start, rows, write_units });
        }
        Ok(())
    }
}
