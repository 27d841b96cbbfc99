//! The past of a series of candles: chooses its slots, and computes and stores their candles.

use std::collections::HashSet;
use std::iter::successors;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use common::time::UnixSeconds;
use dynoxide::{Database, DynoxideError};
use tables::series::{Candles, Interval, SeriesCandle, Slot, begin_at, recorded, rows};
use tables::{Attributes, Error, Session, Table};
use tokio::task::spawn_blocking;

use super::progress::Progress;

pub(super) const DAY: Duration = Duration::from_hours(24);
/// The past of each interval begins at a multiple of this, so that every coarse candle has all its finer
/// candles.
pub(super) const PART: Duration = Duration::from_hours(3);
/// The timeout of each request to the table.
pub(super) const TIMEOUT: Duration = Duration::from_mins(1);

/// The maximum number of rows that are stored at once. Requests of functions wait meanwhile.
const MOST_ROWS: usize = 50;

/// A series of the simulated game.
pub(super) trait Game: Send + Sync + Sized + 'static {
    type Candle: SeriesCandle;

    /// Returns how many days candles of the interval go back if prices go back `days` days.
    fn days(interval: &Interval, days: u16) -> u16;

    /// Returns the length of the parts from which a slot is computed if the past has no finer candles for the
    /// slot. `finer` is the next finer interval of the series.
    fn part_length(finer: Option<&Interval>) -> Duration;

    /// Computes the candles of the part that begins at `start` and has this length.
    fn part(&self, start: UnixSeconds, length: Duration) -> Candles<Self::Candle>;

    fn store(
        past: &Past<Self>,
        slot: Slot,
        candles: &Candles<Self::Candle>,
    ) -> impl Future<Output = Result<(), Unstored>> + Send {
        async move { Ok(past.import(rows(slot, candles)).await?) }
    }

    /// Runs after the candles of a day are stored. `is_new`: the table had no candles of the past before.
    fn complete(past: &Past<Self>, day: Slot, is_new: bool)
    -> impl Future<Output = Result<(), Error>> + Send;
}

pub(super) struct Past<G> {
    pub(super) game: Arc<G>,
    pub(super) table: Table,
    /// The same table, for rows that no function writes.
    pub(super) database: Database,
    pub(super) progress: Arc<Progress>,
    pub(super) days: u16,
    /// The end of the candles.
    pub(super) until: UnixSeconds,
    pub(super) now: UnixSeconds,
}

/// Why a slot could not be stored.
pub(super) type Unstored = Box<dyn std::error::Error + Send + Sync>;

/// The slots that were in the table before the past was generated.
type Known = HashSet<(&'static str, UnixSeconds)>;

type Filling<'a, G> = Pin<Box<dyn Future<Output = Candles<<G as Game>::Candle>> + Send + 'a>>;

impl<G: Game> Past<G> {
    const INTERVALS: &'static [Interval] = G::Candle::SERIES.intervals;

    pub(super) fn session(&self) -> Session<'_> {
        self.table.with_timeout(TIMEOUT)
    }

    /// Stores rows of slots that the table lacks.
    pub(super) async fn import(&self, rows: Vec<Attributes>) -> Result<(), DynoxideError> {
        for rows in rows.chunks(MOST_ROWS) {
            dynamodb::import(&self.database, self.table.name(), rows.to_vec()).await?;
        }
        Ok(())
    }

    /// Keeps `record-candles` from building candles of the past.
    pub(super) async fn begin(&self) {
        let begin = || begin_at(self.session(), G::Candle::SERIES, self.until);
        self.progress.retry("the beginning of candles", begin).await;
    }

    /// Stores the candles, newest days first. Existing candles stay unchanged.
    pub(super) async fn store_candles(self, part: &'static str) {
        let mut known = Known::new();
        for interval in Self::INTERVALS {
            let slots = recorded(self.session(), interval, self.now).await.unwrap_or_default();
            known.extend(slots.iter().map(|slot| (slot.interval.name, slot.start)));
        }
        let is_new = known.iter().all(|(_, start)| *start >= self.until.rounded_down(PART));
        let Some(daily) = Self::INTERVALS.last() else { return };
        let mut day = daily.at(self.until.minus(Duration::from_secs(1)));
        while day.start >= self.oldest(daily) {
            let mut slots = Self::INTERVALS.iter().flat_map(|interval| {
                every(interval.length, day.start, day.end()).map(|start| Slot { interval, start })
            });
            if slots.any(|slot| self.lacks(slot, &known)) {
                self.fill(day, &known).await;
            }
            self.progress.retry(day, || G::complete(&self, day, is_new)).await;
            day.start = day.start.minus(DAY);
        }
        self.progress.complete(part);
    }

    fn oldest(&self, interval: &Interval) -> UnixSeconds {
        let days = G::days(interval, self.days).into();
        self.now.minus(DAY * days).rounded_down(PART.max(interval.length))
    }

    /// Whether the slot belongs to the past, but is not in the table.
    fn lacks(&self, slot: Slot, known: &Known) -> bool {
        let Slot { interval, start } = slot;
        let is_kept = start >= self.oldest(interval) && interval.keeps(start, self.now);
        is_kept && slot.end() <= self.until && !known.contains(&(interval.name, start))
    }

    /// Returns the candles of the slot, built from finer candles if the past has them. Stores this slot and
    /// finer slots if the table lacks them.
    fn fill<'a>(&'a self, slot: Slot, known: &'a Known) -> Filling<'a, G> {
        Box::pin(async move {
            let finer = Self::INTERVALS.iter().rev().find(|finer| finer.length < slot.interval.length);
            let divided = finer.filter(|finer| self.oldest(finer) < slot.end());
            let length = divided.map_or_else(|| G::part_length(finer), |finer| finer.length);
            let parts = every(length, slot.start, slot.end().min(self.until));
            let mut whole = Candles::<G::Candle>::new();
            if let Some(interval) = divided {
                for start in parts {
                    append(&mut whole, self.fill(Slot { interval, start }, known).await);
                }
            } else {
                let game = Arc::clone(&self.game);
                let compute = move || {
                    parts.for_each(|start| append(&mut whole, game.part(start, length)));
                    whole
                };
                whole = spawn_blocking(compute).await.unwrap_or_default();
            }
            if self.lacks(slot, known) {
                self.progress.retry(slot, || G::store(self, slot, &whole)).await;
            }
            whole
        })
    }
}

/// Adds the candles of a later time to `whole`.
fn append<C: SeriesCandle>(whole: &mut Candles<C>, later: Candles<C>) {
    for (id, later) in later {
        match whole.get_mut(&id) {
            Some(candle) => *candle = candle.clone().followed_by(later),
            None => drop(whole.insert(id, later)),
        }
    }
}

/// Returns the times from `from` up to but not including `end`, `step` apart.
pub(super) fn every(
    step: Duration,
    from: UnixSeconds,
    end: UnixSeconds,
) -> impl Iterator<Item = UnixSeconds> {
    successors(Some(from), move |time| Some(time.plus(step))).take_while(move |time| *time < end)
}
