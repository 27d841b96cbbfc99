//! Every five minutes, builds the candles of ended intervals, for the bazaar and for auctions, and the averages of auctions. The recorder
//! reads recorded minutes and finer candles, and nothing from the provider. `files` writes the public files.

mod files;

use std::error::Error;
use std::time::Duration;

use ::files::Files;
use common::config::Config;
use common::error::chain;
use common::invocation::Invocation;
use common::lambda::StartError;
use common::time::{Tick, UnixSeconds};
use serde::Serialize;
use tables::auctions::{self, build_averages};
use tables::bazaar;
use tables::feed::{self, Feed};
use tables::series::{self, BuiltSlot};
use tables::{Effect, Recorder, Session, Ticks};
use tokio::time::{Instant, timeout};

#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The slots of the bazaar that were built; empty if there was nothing to build.
    slots: Vec<BuiltSlot>,
    /// The slots of auctions that were built.
    auctions: Vec<BuiltSlot>,
    /// The ends of the newest five-minute candles.
    #[serde(skip)]
    ends: Vec<Tick>,
    /// The averages of auctions; `None` if no auctions were recorded or the series failed.
    #[serde(skip)]
    averages: Option<MadeAverages>,
    /// Why a series was not built completely.
    #[serde(skip)]
    failures: Vec<String>,
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Returns the result of `part`, or an error if it takes longer than `limit`. The next run then completes the work.
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

/// Builds candles of auctions and then their averages.
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
pub struct RecordCandles(Option<Files>);

impl Recorder for RecordCandles {
    const NAME: &'static str = "record-candles";

    const FEED: &'static Feed = &feed::CANDLES;

    type Outcome = Outcome;

    fn new(config: &Config) -> std::result::Result<Self, StartError> {
        Ok(Self(Files::of(config)?))
    }

    async fn record(
        &self,
        table: Session<'_>,
        ticks: Ticks,
        invocation: &Invocation,
    ) -> Result<(Tick, Outcome)> {
        let now = invocation.now().into();
        // If a read fails, the series counts as not behind. The build of the series below then probably fails too, and reports the cause.
        let bazaar_behind = series::behind::<bazaar::Candle>(table, now).await.unwrap_or_default();
        let auctions_behind = series::behind::<auctions::Candle>(table, now).await.unwrap_or_default();
        // The series that is further behind is built first, because its minutes expire first. It gets at most four fifths of the run, and
        // its failure does not stop the other series. The last tenth of the run is for the heartbeat and the public files.
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
        Ok((tick, Outcome { slots, auctions, ends, averages, failures }))
    }

    async fn publish(&self, table: Session<'_>, invocation: &Invocation, outcome: &Outcome) -> Result<()> {
        let Some(files) = &self.0 else { return Ok(()) };
        let now: UnixSeconds = invocation.now().into();
        let mut failures = Vec::new();
        if let Some(MadeAverages { are_new, until }) = outcome.averages {
            let averages = self::files::averages(files, table, are_new, until).await;
            unless_failed(averages, "averages", &mut failures);
        }
        // Files of days are checked once an hour.
        if outcome.slots.iter().chain(&outcome.auctions).any(|slot| slot.interval == "1h") {
            let bazaar = self::files::days::<bazaar::Candle>(files, "days/bazaar", table, now).await;
            unless_failed(bazaar, "days of the bazaar", &mut failures);
            let auctions = self::files::days::<auctions::Candle>(files, "days/auctions", table, now).await;
            unless_failed(auctions, "days of auctions", &mut failures);
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ").into()) }
    }

    fn failures(outcome: &Outcome) -> &[String] {
        &outcome.failures
    }

    fn effect(outcome: &Outcome) -> Effect {
        if outcome.slots.is_empty() && outcome.auctions.is_empty() {
            Effect::Nothing
        } else {
            Effect::Recorded
        }
    }

    fn recorded(_: Tick, outcome: &Outcome) -> Vec<Tick> {
        outcome.ends.clone()
    }
}
