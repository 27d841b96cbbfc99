//! Generates history for a simulated game, so that charts have data from the start. Prices are computed; for past mayors and fire sales, the
//! recorders run at ticks of the past, against the game as it was then.

mod auctions;
mod prices;
mod progress;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::calendar::ElectionYear;
use serde_json::json;
use simulator::{Clock, Simulator};
use tables::Table;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::prices::Past;
use self::progress::{Part, State};
pub use self::progress::{Progress, ProgressSink};
use crate::instance::Function;
use crate::logs::Logs;
use crate::pool::Pool;

/// The logical id of the table of histories.
pub(crate) const TABLE: &str = "History";

/// The interval and the number of ticks that record past fire sales. The simulated ones last for days.
const FIRE_SALES_INTERVAL: Duration = Duration::from_hours(6);
const FIRE_SALES_TICKS: u32 = 90 * 4;
/// The number of past mayors: as many as a response can have.
const PAST_MAYORS: usize = 100;
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
    /// Becomes true when the minutes of the last hour are stored.
    pub(crate) last_hour: watch::Sender<bool>,
    /// Closed when the first minute of the present is recorded. The rest of the past would slow that down.
    pub(crate) minutes_recorded: mpsc::Receiver<()>,
}

/// Starts the backfill. Dropping the set stops it.
pub(crate) fn start(plan: Plan) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(run(plan));
    tasks
}

async fn run(plan: Plan) {
    let Plan { days, seed, upstream, now_ms, functions, table, logs, progress, last_hour, .. } = plan;
    let mut minutes_recorded = plan.minutes_recorded;
    let now = UnixSeconds::from(UnixMilliseconds::new(now_ms));
    let Some(table) = table else { return };
    let prices = Past::new(table.clone(), seed, days, now);
    let auctions = auctions::Past::new(table, seed, days, now);
    let events = [("record-mayor", elections(now)), ("record-fire-sales", fire_sales(now))];
    let ticks: usize = events.iter().map(|(_, ticks)| ticks.len()).sum();
    let state = Arc::new(State::new((ticks + prices.count() + auctions.count()) as u64, logs, progress));
    prices.store_minutes(&state).await;
    state.complete(Part::Minutes);
    last_hour.send_replace(true);
    while minutes_recorded.recv().await.is_some() {}

    let mut parts = JoinSet::new();
    let of_prices = Arc::clone(&state);
    parts.spawn(async move {
        prices.store_candles(&of_prices).await;
        of_prices.complete(Part::Candles);
    });
    let of_auctions = Arc::clone(&state);
    parts.spawn(async move {
        auctions.store(&of_auctions).await;
        of_auctions.complete(Part::Auctions);
    });
    parts.spawn(async move {
        for (recorder, ticks) in events {
            let function = functions.iter().find(|function| function.binary == recorder).cloned();
            let Some(function) = function else { continue };
            match PastRecorder::start(seed, &upstream, function).await {
                Ok(recorder) => recorder.record_all(&ticks, now, &state).await,
                Err(error) => state.log(&format!("local: history: {error}")),
            }
        }
        state.complete(Part::Events);
    });
    parts.join_all().await;
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

/// A past game, and a recorder that uses it as its upstream.
struct PastRecorder {
    clock: Clock,
    pool: Arc<Pool>,
    /// Dropping it stops its server.
    _game: Simulator,
}

impl PastRecorder {
    async fn start(seed: u64, upstream: &str, mut function: Function) -> Result<Self, simulator::Error> {
        let clock = Clock::system();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let game = Simulator::start(simulator::Options { seed, address, clock: clock.clone() }).await?;
        let url = game.url();
        for value in function.environment.values_mut().filter(|value| *value == upstream) {
            value.clone_from(&url);
        }
        // Its log would have thousands of lines; failures are logged here.
        Ok(Self { clock, pool: Arc::new(Pool::new(function, 1, Logs::default())), _game: game })
    }

    async fn record_all(&self, ticks: &[UnixSeconds], now: UnixSeconds, state: &State) {
        for tick in ticks {
            let event = json!({"time": tick.to_string(), "now": now.to_string(), "backfill": true});
            let event = Bytes::from(event.to_string());
            let record = || {
                self.clock.set(tick.get() * 1_000);
                self.pool.invoke(event.clone())
            };
            state.retry(format!("{} at {tick}", self.pool.function().binary), record).await;
            state.advance(1);
        }
        self.pool.stop().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_past_mayors_as_a_response_can_have() {
        let now = UnixSeconds::new(1_795_273_510);
        let elections = elections(now);
        assert_eq!(elections.len(), 100);
        let newest = ElectionYear::sitting_at(elections[0]).unwrap();
        assert_eq!(Some(newest), ElectionYear::sitting_at(now).unwrap().previous());
    }
}
