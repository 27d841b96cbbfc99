//! Generates history for a simulated game, so that charts have data from the start.

mod auctions;
mod bazaar;
mod events;
mod names;
mod past;
mod progress;

use std::sync::Arc;
use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use dynoxide::Database;
use tables::Table;
use tables::bazaar::SERIES;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::auctions::Auctions;
use self::bazaar::Bazaar;
use self::past::Past;
use self::progress::Progress;
use crate::logs::Logs;

/// The logical id of the table with the history.
pub(crate) const TABLE: &str = "History";

pub(crate) struct Plan {
    /// The number of days of prices.
    pub(crate) days: u16,
    pub(crate) seed: u64,
    pub(crate) now_ms: i64,
    pub(crate) table: Table,
    pub(crate) database: Database,
    pub(crate) logs: Logs,
    /// Becomes true when the minutes for the first candle are stored.
    pub(crate) newest_minutes: watch::Sender<bool>,
    /// Closed when the first current minute is recorded. Older parts of the past wait for this, so as not to
    /// slow the recording down.
    pub(crate) minutes_recorded: mpsc::Receiver<()>,
}

pub(crate) async fn run(plan: Plan) {
    let Plan { days, seed, now_ms, table, database, logs, newest_minutes, mut minutes_recorded } = plan;
    let now = UnixSeconds::from(UnixMilliseconds::new(now_ms));
    let progress = Arc::new(Progress::new(logs));
    let bazaar = Past {
        game: Arc::new(Bazaar { seed }),
        table: table.clone(),
        database: database.clone(),
        progress: Arc::clone(&progress),
        days,
        until: Bazaar::until(now),
        now,
    };
    let auctions = Past {
        game: Arc::new(Auctions::new(seed, now)),
        table: table.clone(),
        database,
        progress: Arc::clone(&progress),
        days,
        until: Auctions::until(now),
        now,
    };
    bazaar.begin().await;
    auctions.begin().await;
    // The first candle is built from the newest minutes.
    bazaar.store_minutes(bazaar.until, now.plus(Duration::from_secs(1))).await;
    progress.complete(progress::NEWEST_MINUTES);
    newest_minutes.send_replace(true);
    while minutes_recorded.recv().await.is_some() {}

    // The names of current items, so that the route need not wait for the past.
    let catalogue = names::catalogue(seed, now);
    names::record(&table, &catalogue, now, &progress).await;
    let mut parts = JoinSet::new();
    parts.spawn(async move {
        // The minutes in the shortest range of the bazaar history.
        let hour_ago = SERIES.finest.slot(now.minus(Duration::from_mins(59)));
        bazaar.store_minutes(hour_ago, bazaar.until).await;
        bazaar.store_candles(progress::BAZAAR).await;
    });
    parts.spawn(auctions.store_candles(progress::AUCTIONS));
    let (events_table, events_progress) = (table.clone(), Arc::clone(&progress));
    parts.spawn(async move {
        events::record(&events_table, seed, now, &events_progress).await;
        events_progress.complete(progress::EVENTS);
    });
    parts.join_all().await;
    names::record(&table, &catalogue, now, &progress).await;
    progress.complete(progress::NAMES);
}
