//! Generates history for a simulated game: the recorders run at ticks of the past, against the game as it was then. A day
//! of history takes seconds, so charts have data from the start.
//!
//! Workers process windows of a few hours, the newest first. Within a window, ticks run in chronological order: a slot
//! belongs to its earliest tick, so no row is written twice.
//!
//! Candles need every minute. Only the minutes of the last hour are recorded, and `record-candles` builds candles of them. Older
//! candles are computed from the game's prices.

mod candles;
mod simulated;

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use common::calendar::ElectionYear;
use common::time::{UnixMilliseconds, UnixSeconds};
use serde_json::json;
use simulator::{Clock, Simulator};
use tables::Table;
use tables::history::bazaar::{TIERS, Tier};
use tables::history::candles::INTERVALS;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use self::candles::Past;
use crate::instance::Function;
use crate::logs::Logs;
use crate::pool::Pool;

/// The logical id of the table of histories.
pub(crate) const TABLE: &str = "History";

/// The recorders, by the names of their binaries.
const BAZAAR: &str = "record-bazaar";
const CANDLES: &str = "record-candles";
const FIRE_SALES: &str = "record-fire-sales";
const MAYOR: &str = "record-mayor";

/// While one waits for the database, another can wait for the game.
const WORKERS: usize = 3;
/// The coarsest interval, so that no slot is in two windows.
const WINDOW: Duration = Duration::from_hours(3);
/// The number of full windows in a day.
const DAY_WINDOWS: usize = 8;
/// The interval and the number of ticks that record past fire sales. The simulated ones last for days.
const FIRE_SALES_INTERVAL: Duration = Duration::from_hours(6);
const FIRE_SALES_TICKS: u32 = 90 * 4;
/// After this time, a row of a single minute has expired: the range, and the hours for which rows are kept after it.
const LONGEST_LIFE_OF_MINUTES: Duration = Duration::from_hours(4);
/// The number of past mayors: as many as a response can have.
const PAST_MAYORS: usize = 100;
/// The attempts per tick, and the backoff between them.
const ATTEMPTS: u32 = 10;
const BACKOFF: Duration = Duration::from_secs(1);

/// The progress of generating history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of finished ticks and slots of candles.
    pub done: u64,
    /// The number of all ticks and slots.
    pub total: u64,
    /// A message, when a range or everything is complete.
    pub message: Option<String>,
}

/// Receives each step of the progress.
pub type ProgressSink = Arc<dyn Fn(&Progress) + Send + Sync>;

/// The history to generate.
pub(crate) struct Plan {
    /// The days of prices.
    pub(crate) days: u16,
    pub(crate) seed: u64,
    /// The URL of the live game. The recorders get the URL of a past one instead.
    pub(crate) upstream: String,
    pub(crate) now_ms: i64,
    /// The recorders.
    pub(crate) functions: Vec<Function>,
    /// The table of histories.
    pub(crate) table: Option<Table>,
    pub(crate) logs: Logs,
    pub(crate) progress: Option<ProgressSink>,
}

/// Ticks that one worker runs in order.
struct Job {
    recorder: &'static str,
    ticks: Vec<UnixSeconds>,
    /// The ranges of bazaar history that include these ticks, as positions of their tiers.
    ranges: Vec<usize>,
}

struct State {
    jobs: Mutex<VecDeque<Job>>,
    /// The number of unfinished jobs per range.
    waiting: [AtomicU64; TIERS.len()],
    done: AtomicU64,
    failed: AtomicU64,
    ticks: u64,
    /// The number of slots of candles.
    slots: u64,
    /// The minutes of the last hour are recorded.
    minutes: Notify,
    /// The candles of the last day of the past are stored.
    last_day: Notify,
    begun: Instant,
    now: UnixSeconds,
    days: u16,
    logs: Logs,
    progress: Option<ProgressSink>,
}

/// Starts the backfill. Dropping the set stops it.
pub(crate) fn start(plan: Plan) -> JoinSet<()> {
    let Plan { days, seed, upstream, now_ms, functions, table, logs, progress } = plan;
    let now = UnixSeconds::from(UnixMilliseconds::new(now_ms));
    let jobs = jobs(now, days);
    let waiting = std::array::from_fn(|range| {
        let of_range = jobs.iter().filter(|job| job.ranges.contains(&range)).count();
        AtomicU64::new(of_range as u64)
    });
    let past = table.map(|table| Past::new(table, seed, days, minutes_from(now), now));
    let state = Arc::new(State {
        waiting,
        ticks: jobs.iter().map(|job| job.ticks.len() as u64).sum(),
        slots: past.as_ref().map_or(0, Past::slots),
        minutes: Notify::new(),
        last_day: Notify::new(),
        jobs: Mutex::new(jobs.into()),
        done: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        begun: Instant::now(),
        now,
        days,
        logs,
        progress,
    });
    let mut workers = JoinSet::new();
    if let Some(past) = past {
        let past_state = Arc::clone(&state);
        workers.spawn(async move { past.store(&past_state).await });
        let recorder = functions.iter().find(|function| function.binary == CANDLES).cloned();
        if let Some(recorder) = recorder {
            workers.spawn(build_candles(recorder, Arc::clone(&state)));
        }
    }
    for _ in 0..WORKERS {
        let state = Arc::clone(&state);
        let (upstream, functions) = (upstream.clone(), functions.clone());
        workers.spawn(async move {
            match Worker::start(seed, &upstream, functions).await {
                Ok(worker) => worker.work(&state).await,
                Err(error) => state.logs.push(&format!("local: history: {error}")),
            }
        });
    }
    workers
}

/// Builds the candles of the last hour when its minutes are recorded, and again when the earlier candles of the day are stored.
async fn build_candles(recorder: Function, state: Arc<State>) {
    let pool = Arc::new(Pool::new(recorder, 1, Logs::default()));
    for part in [&state.minutes, &state.last_day] {
        part.notified().await;
        let event = Bytes::from(json!({"time": state.now.to_string(), "backfill": true}).to_string());
        for attempt in 1..=ATTEMPTS {
            match pool.invoke(event.clone()).await {
                Ok(_) => break,
                Err(failure) if attempt == ATTEMPTS => {
                    state.logs.push(&format!("local: history: {CANDLES}: {failure}"));
                }
                Err(_) => tokio::time::sleep(BACKOFF).await,
            }
        }
    }
    pool.stop().await;
}

/// The oldest minute that is recorded: that of the range of minutes, or earlier, so that it starts a candle.
fn minutes_from(now: UnixSeconds) -> UnixSeconds {
    let ([minutes, ..], [finest, ..]) = (&TIERS, &INTERVALS);
    finest.slot(oldest_slot(minutes, now))
}

/// The oldest slot in the tier's range.
fn oldest_slot(tier: &Tier, now: UnixSeconds) -> UnixSeconds {
    tier.slot(now).minus(tier.interval * (tier.slots - 1))
}

/// All jobs, the most important first.
fn jobs(now: UnixSeconds, days: u16) -> Vec<Job> {
    let from = now.minus(Duration::from_hours(24) * days.into());
    let mut jobs = Vec::new();
    let mut window = now.rounded_down(WINDOW);
    while window.plus(WINDOW) > from {
        let mut ticks = BTreeSet::new();
        let mut ranges = Vec::new();
        for (range, tier) in TIERS.iter().enumerate() {
            let before = ticks.len();
            ticks.extend(slots(tier, window, from, now));
            if ticks.len() > before || slots(tier, window, from, now).next().is_some() {
                ranges.push(range);
            }
        }
        jobs.push(Job { recorder: BAZAAR, ticks: ticks.into_iter().collect(), ranges });
        window = window.minus(WINDOW);
    }
    // First the newest prices, then mayors, which are quick, then the rest of a day.
    let mayors = Job { recorder: MAYOR, ticks: elections(now), ranges: Vec::new() };
    let fire_sales = Job { recorder: FIRE_SALES, ticks: fire_sales(now), ranges: Vec::new() };
    jobs.insert(jobs.len().min(1), mayors);
    jobs.insert(jobs.len().min(2 + DAY_WINDOWS), fire_sales);
    jobs
}

/// The slots of the tier that start in the window, belong to its range, and are not before `from`.
fn slots(
    tier: &'static Tier,
    window: UnixSeconds,
    from: UnixSeconds,
    now: UnixSeconds,
) -> impl Iterator<Item = UnixSeconds> {
    let oldest = match TIERS.first() {
        Some(minutes) if minutes == tier => minutes_from(now),
        _ => oldest_slot(tier, now),
    };
    let oldest = oldest.max(from);
    let in_window = WINDOW.as_secs() / tier.interval.as_secs();
    (0..in_window)
        .map(move |number| window.plus(tier.interval * u32::try_from(number).unwrap_or(u32::MAX)))
        .filter(move |slot| *slot >= oldest && *slot <= now)
}

/// Ticks that show every past sale, the newest first.
fn fire_sales(now: UnixSeconds) -> Vec<UnixSeconds> {
    let newest = now.rounded_down(FIRE_SALES_INTERVAL);
    (0..FIRE_SALES_TICKS).map(|number| newest.minus(FIRE_SALES_INTERVAL * number)).collect()
}

/// A tick in every past term, the newest first.
fn elections(now: UnixSeconds) -> Vec<UnixSeconds> {
    let sitting = ElectionYear::sitting_at(now);
    let years = std::iter::successors(sitting, |year| year.previous());
    years.skip(1).take(PAST_MAYORS).map(|year| year.term_begins().plus(Duration::from_hours(1))).collect()
}

/// A past game, and recorders that use it as their upstream.
struct Worker {
    clock: Clock,
    pools: Vec<Arc<Pool>>,
    /// Dropping it stops its server.
    _game: Simulator,
}

impl Worker {
    async fn start(seed: u64, upstream: &str, functions: Vec<Function>) -> Result<Self, simulator::Error> {
        let clock = Clock::system();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let game = Simulator::start(simulator::Options { seed, address, clock: clock.clone() }).await?;
        let url = game.url();
        let pools = functions.into_iter().map(|mut function| {
            for value in function.environment.values_mut().filter(|value| *value == upstream) {
                value.clone_from(&url);
            }
            // Their log would have thousands of lines; failures are logged here.
            Arc::new(Pool::new(function, 1, Logs::default()))
        });
        Ok(Self { clock, pools: pools.collect(), _game: game })
    }

    async fn work(&self, state: &State) {
        while let Some(job) = state.next() {
            if let Some(pool) = self.pools.iter().find(|pool| pool.function().binary == job.recorder) {
                for tick in &job.ticks {
                    self.record(pool, *tick, state).await;
                    state.advance(1);
                }
            }
            state.finish(&job);
        }
        for pool in &self.pools {
            pool.stop().await;
        }
    }

    async fn record(&self, pool: &Arc<Pool>, tick: UnixSeconds, state: &State) {
        let mut now = state.now;
        if pool.function().binary == BAZAAR && tick < minutes_from(state.now) {
            // Rows of single minutes live for hours after they have left their range. Candles of these few minutes would be
            // incomplete, so to this tick its row appears to have expired.
            now = now.max(tick.plus(LONGEST_LIFE_OF_MINUTES));
        }
        let event = json!({"time": tick.to_string(), "now": now.to_string(), "backfill": true});
        let event = Bytes::from(event.to_string());
        for attempt in 1..=ATTEMPTS {
            self.clock.set(tick.get() * 1_000);
            match pool.invoke(event.clone()).await {
                Ok(_) => break,
                Err(failure) if attempt == ATTEMPTS => {
                    let recorder = &pool.function().binary;
                    state.fail(format_args!("{recorder} at {tick}: {failure}"));
                }
                Err(_) => tokio::time::sleep(BACKOFF).await,
            }
        }
    }
}

impl State {
    fn next(&self) -> Option<Job> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn finish(&self, job: &Job) {
        for range in &job.ranges {
            let (Some(waiting), Some(tier)) = (self.waiting.get(*range), TIERS.get(*range)) else { continue };
            let is_last = waiting.fetch_sub(1, Ordering::Relaxed) == 1;
            if is_last && TIERS.first() == Some(tier) {
                self.minutes.notify_one();
            }
            let length = tier.interval * tier.slots;
            if is_last && length <= Duration::from_hours(24) * self.days.into() {
                self.report_complete(format_args!("{} is", tier.range));
            }
        }
    }

    /// Notes that this many ticks or slots are finished.
    fn advance(&self, finished: u64) {
        let total = self.ticks + self.slots;
        let done = self.done.fetch_add(finished, Ordering::Relaxed) + finished;
        let seconds = self.begun.elapsed().as_secs_f32();
        let (ticks, slots) = (self.ticks, self.slots);
        let end = (done == total && finished > 0).then(|| match self.failed.load(Ordering::Relaxed) {
            0 => {
                format!("history: {ticks} ticks and {slots} intervals of candles recorded in {seconds:.1} s")
            }
            failed => {
                format!("history: {failed} of {total} ticks and intervals of candles could not be recorded")
            }
        });
        self.report(end);
    }

    fn fail(&self, what: fmt::Arguments<'_>) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.logs.push(&format!("local: history: {what}"));
    }

    fn report_complete(&self, what: fmt::Arguments<'_>) {
        let seconds = self.begun.elapsed().as_secs_f32();
        self.report(Some(format!("history: {what} complete after {seconds:.1} s")));
    }

    fn report(&self, message: Option<String>) {
        if let Some(progress) = &self.progress {
            let total = self.ticks + self.slots;
            progress(&Progress { done: self.done.load(Ordering::Relaxed), total, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixSeconds = UnixSeconds::new(1_795_273_510);

    fn ticks(days: u16, recorder: &str) -> Vec<UnixSeconds> {
        let jobs = jobs(NOW, days).into_iter().filter(|job| job.recorder == recorder);
        jobs.flat_map(|job| job.ticks).collect()
    }

    #[test]
    fn every_slot_of_every_range_has_exactly_one_tick() {
        let ticks = ticks(90, BAZAAR);
        let different: BTreeSet<_> = ticks.iter().collect();
        assert_eq!(different.len(), ticks.len());
        for tier in &TIERS {
            let last = tier.slot(NOW);
            for number in 0..tier.slots {
                let slot = last.minus(tier.interval * number);
                // The oldest slot of the longest range starts up to an interval before its days.
                let is_older = slot < NOW.minus(Duration::from_hours(24 * 90));
                assert_eq!(different.contains(&slot), !is_older, "{} {slot}", tier.name);
            }
        }
    }

    #[test]
    fn the_newest_window_comes_first_and_its_ticks_are_in_order() {
        let ticks = ticks(1, BAZAAR);
        assert_eq!(ticks[0], NOW.rounded_down(WINDOW));
        assert!(ticks.iter().all(|tick| *tick <= NOW && *tick >= NOW.minus(Duration::from_hours(24))));
        // Of the last hour, every minute has one, from the start of the first candle on.
        let minutes = ticks.iter().filter(|tick| **tick >= minutes_from(NOW)).count();
        assert_eq!(minutes, 61);
        assert_eq!(ticks.len(), 288 + 61 - 13);
    }

    #[test]
    fn there_are_as_many_past_mayors_as_a_response_can_have() {
        let elections = ticks(1, MAYOR);
        assert_eq!(elections.len(), 100);
        let newest = ElectionYear::sitting_at(elections[0]).unwrap();
        assert_eq!(Some(newest), ElectionYear::sitting_at(NOW).unwrap().previous());
    }
}
