//! Every five minutes, builds the candles of ended intervals, for the bazaar and for auctions, and the
//! averages of auctions. The recorder reads recorded minutes and finer candles. `files` writes the public
//! files. `names` writes the names of items once an hour, for which it fetches the provider's catalogue.

mod files;
mod names;

use std::error::Error;
use std::time::Duration;

use ::files::Files;
use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::{Tick, UnixSeconds};
use common::upstream::Upstream;
use recorder::feed::{self, Feed};
use recorder::{Attempt, Effect, Recorder};
use serde::Serialize;
use tables::auctions::{self, build_averages};
use tables::bazaar;
use tables::series::{self, BuiltSlot};
use tables::{Session, Ticks};
use tokio::time::{Instant, timeout};

#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The slots of the bazaar that were built; empty if there was nothing to build.
    slots: Vec<BuiltSlot>,
    auctions: Vec<BuiltSlot>,
}

/// The public files that a run may have changed.
#[derive(Debug, Default)]
pub struct Changed {
    /// The averages of auctions; `None` if no auctions were recorded or the series failed.
    averages: Option<MadeAverages>,
    /// Whether the run has built an hour, after which the files of days are checked.
    has_hours: bool,
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Returns the result of `part`, or an error if it takes longer than `limit`. The next run then completes the
/// work.
async fn within<T>(limit: Duration, part: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(limit, part).await.unwrap_or_else(|late| Err(late.into()))
}

/// Returns the value of a part. If the part has failed, adds the cause to `failures` and returns the default.
fn unless_failed<T: Default>(part: Result<T>, name: &str, failures: &mut Vec<String>) -> T {
    part.unwrap_or_else(|error| {
        failures.push(format!("{name}: {}", chain(error.as_ref())));
        T::default()
    })
}

/// Builds candles of the bazaar, and returns the slots and the ends of the newest five-minute candles.
async fn build_bazaar(table: Session<'_>, now: UnixSeconds) -> Result<(Vec<BuiltSlot>, Vec<Tick>)> {
    let built = series::build::<bazaar::Candle>(table, now).await?;
    let ends = series::ends::<bazaar::Candle>(table, &built).await?;
    Ok((built.slots, ends.into_iter().map(Tick::of).collect()))
}

async fn build_auctions(
    table: Session<'_>,
    now: UnixSeconds,
) -> Result<(Vec<BuiltSlot>, Option<MadeAverages>)> {
    let [hours, _] = &auctions::INTERVALS;
    if series::is_empty::<auctions::Candle>(table, now).await? {
        return Ok((Vec::new(), None));
    }
    let built = series::build::<auctions::Candle>(table, now).await?;
    let are_new = build_averages(table, built.until).await?;
    Ok((built.slots, Some(MadeAverages { are_new, until: hours.slot(built.until) })))
}

/// The averages of auctions after a run.
#[derive(Debug)]
struct MadeAverages {
    /// Whether this run has built the averages.
    are_new: bool,
    /// The end of the last hour in the averages.
    until: UnixSeconds,
}

#[derive(Debug)]
pub struct RecordCandles {
    upstream: Upstream,
    files: Option<Files>,
}

impl Recorder for RecordCandles {
    const NAME: &'static str = "record-candles";

    const FEED: &'static Feed = &feed::CANDLES;

    type Outcome = Outcome;

    type Public = Changed;

    fn new(config: &Config) -> std::result::Result<Self, StartError> {
        Ok(Self { upstream: Upstream::provider(config, None)?, files: Files::of(config)? })
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<Attempt<Outcome, Changed>> {
        let now = invocation.now().into();
        // If a read fails, the series counts as not behind. The build of the series below then probably fails
        // too, and reports the cause.
        let bazaar_behind = series::behind::<bazaar::Candle>(table, now).await.unwrap_or_default();
        let auctions_behind = series::behind::<auctions::Candle>(table, now).await.unwrap_or_default();
        // The series that is further behind is built first, because its minutes expire first. It gets at most
        // four fifths of the run, and its failure does not stop the other series. The last tenth of the run
        // is for the heartbeat and the public files.
        let left = || invocation.deadline().saturating_duration_since(Instant::now());
        let most = left() * 4 / 5;
        let tenth = left() / 10;
        let (bazaar, auctions) = if auctions_behind > bazaar_behind {
            let auctions = within(most, Box::pin(build_auctions(table, now))).await;
            let bazaar = within(left().saturating_sub(tenth), Box::pin(build_bazaar(table, now))).await;
            (bazaar, auctions)
        } else {
            let bazaar = within(most, Box::pin(build_bazaar(table, now))).await;
            let auctions = within(left().saturating_sub(tenth), Box::pin(build_auctions(table, now))).await;
            (bazaar, auctions)
        };
        let mut failures = Vec::new();
        let (slots, ends) = unless_failed(bazaar, "candles of the bazaar", &mut failures);
        let (auctions, averages) = unless_failed(auctions, "candles of auctions", &mut failures);
        let tick = ends.last().copied().unwrap_or_else(|| ticks.event());
        let is_nothing = slots.is_empty() && auctions.is_empty();
        let has_hours = slots.iter().chain(&auctions).any(|slot| slot.interval == "1h");
        Ok(Attempt {
            effect: if is_nothing { Effect::Nothing } else { Effect::Recorded },
            recorded: ends,
            failures,
            public: Changed { averages, has_hours },
            ..Attempt::of(tick, Outcome { slots, auctions })
        })
    }

    async fn publish(&self, table: Session<'_>, invocation: &Invocation, changed: &Changed) -> Result<()> {
        let now: UnixSeconds = invocation.now().into();
        let mut failures = Vec::new();
        if let (Some(files), Some(MadeAverages { are_new, until })) = (&self.files, &changed.averages) {
            let averages = self::files::averages(files, table, *are_new, *until).await;
            unless_failed(averages, "averages", &mut failures);
        }
        if let Some(files) = &self.files
            && changed.has_hours
        {
            let bazaar =
                self::files::days::<bazaar::Candle>(files, self::files::BAZAAR_DAYS, table, now).await;
            unless_failed(bazaar, "days of the bazaar", &mut failures);
            let auctions =
                self::files::days::<auctions::Candle>(files, self::files::AUCTIONS_DAYS, table, now).await;
            unless_failed(auctions, "days of auctions", &mut failures);
        }
        if let Some(files) = &self.files {
            let index = self::files::days_index(files, changed.has_hours).await;
            unless_failed(index, "the list of days", &mut failures);
        }
        let names = names::write(&self.upstream, self.files.as_ref(), table, invocation).await;
        unless_failed(names, "names", &mut failures);
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ").into()) }
    }
}
