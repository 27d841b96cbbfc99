//! `GET /v1/status`: the time of each feed's latest record, and whether the feed is up to date. It requires
//! no key, so that an uptime monitor can request it.
//!
//! For each feed, the function reads one row with the heartbeat and usually one row with the oldest record.

use std::sync::Arc;
use std::time::Duration;

use common::cache::Cache;
use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::Document;
use common::routes::{self, Route};
use common::time::UnixSeconds;
use futures_util::FutureExt;
use futures_util::future::{try_join, try_join4};
use recorder::feed::{FEEDS, Feed};
use recorder::heartbeat::{self, Heartbeat, heartbeats};
use schemars::JsonSchema;
use serde::Serialize;
use tables::auctions::{self, ONE_MINUTE};
use tables::bazaar::INTERVALS;
use tables::history::{fire_sales, mayors};
use tables::series::{self, Interval};

use tables::{Error, Session, Table};

/// A feed that is recorded every minute is unhealthy if fewer than this many of the last 60 minutes were
/// recorded. The newest two may not be recorded yet.
const FEWEST_MINUTES: usize = 55;

/// The status of the service: the age of its recorded data.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Status")]
struct ServiceStatus {
    /// The version of the service.
    version: &'static str,
    /// When the feeds were checked. For a response from a cache, this is earlier than the request.
    checked_at: UnixSeconds,
    /// The feeds: `bazaar`, `candles`, `mayor`, `fire-sales` and `auctions`, in this order.
    feeds: Vec<FeedStatus>,
    /// Whether all feeds are healthy.
    is_healthy: bool,
}

/// The status of one feed of recorded data.
#[derive(Debug, Serialize, JsonSchema)]
struct FeedStatus {
    /// The name of the feed.
    name: &'static str,
    /// The time of the latest record; for `candles`, the end of the newest candle. `null` if nothing was
    /// recorded.
    last_recorded_at: Option<UnixSeconds>,
    /// The time from `last_recorded_at` to `checked_at`, in whole seconds. `null` if nothing was recorded.
    age_seconds: Option<u64>,
    /// How often the feed is recorded, in seconds.
    expected_every_seconds: u64,
    /// Whether the feed is up to date. The latest record must be at most `2 * expected_every_seconds + 110`
    /// seconds old (`+ 230` for `candles`). Once the first record is an hour old, `minutes_last_hour` must be
    /// at least 55. For `bazaar` and `auctions`, `data_changed_at` must be less than ten minutes old, if it
    /// is known.
    is_healthy: bool,
    /// The time of the oldest kept record. `null` without a record.
    recorded_since: Option<UnixSeconds>,
    /// The latest gap in the records, not counting gaps that later runs have filled. `null` without a gap.
    last_gap: Option<Gap>,
    /// How many of the 60 minutes before `checked_at` were recorded. `null` for `candles` and `mayor`, and if
    /// nothing was recorded.
    minutes_last_hour: Option<usize>,
    /// When the provider's data last changed, by the provider's clock. The data are the prices and volumes,
    /// the mayor and the votes, or the last updated auctions. `null` for `candles` and `fire-sales`, which
    /// have no such time, and if it is not known yet.
    data_changed_at: Option<UnixSeconds>,
}

/// A period without records, longer than two intervals of the feed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FeedGap")]
struct Gap {
    /// The latest record before the period.
    from: UnixSeconds,
    /// The earliest record after the period.
    to: UnixSeconds,
}

impl FeedStatus {
    fn of(
        feed: &'static Feed,
        heartbeat: Option<&Heartbeat>,
        recorded_since: Option<UnixSeconds>,
        now: UnixSeconds,
    ) -> Self {
        let last_recorded_at = heartbeat.map(Heartbeat::last_recorded_at);
        // A record far in the future is as unhealthy as an old one: clocks differ only by seconds.
        let distance = last_recorded_at.map(|last| last.get().abs_diff(now.get()));
        let gap = heartbeat.and_then(Heartbeat::last_gap);
        let is_of_minutes = feed.interval == Duration::from_mins(1);
        let of_minutes = if is_of_minutes { heartbeat } else { None };
        let minutes_last_hour = of_minutes.map(|heartbeat| heartbeat.minutes_last_hour(now));
        let has_lost_minutes = of_minutes.is_some_and(|heartbeat| heartbeat.is_hour_old(now))
            && minutes_last_hour < Some(FEWEST_MINUTES);
        let stands_still = heartbeat.is_some_and(|heartbeat| heartbeat.unchanged_since(feed, now).is_some());
        let is_recent = distance.is_some_and(|distance| distance <= feed.longest_age().as_secs());
        Self {
            name: feed.name,
            last_recorded_at,
            age_seconds: distance.map(|distance| if last_recorded_at > Some(now) { 0 } else { distance }),
            expected_every_seconds: feed.interval.as_secs(),
            is_healthy: is_recent && !has_lost_minutes && !stands_still,
            recorded_since,
            last_gap: gap.map(|heartbeat::Gap { from, to }| Gap { from, to }),
            minutes_last_hour,
            data_changed_at: heartbeat.and_then(Heartbeat::data_changed_at),
        }
    }
}

/// A response is never served after its TTL, because it could hide that a recorder has stopped.
#[derive(Debug)]
pub struct Status {
    table: Table,
    documents: Cache<(), Arc<Document>>,
}

impl Handler for Status {
    const ROUTE: &'static Route = &routes::STATUS;

    fn new(config: &Config) -> Result<Self, StartError> {
        let documents = Cache::new(Self::ROUTE.cache, usize::MAX).never_stale();
        Ok(Self { table: Table::history(config)?, documents })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let invocation = request.invocation();
        let fetch = async || {
            let data = data(self.table.during(invocation), invocation.now().into()).await?;
            Document::of(&data).map(Arc::new).map_err(Error::unwritable)
        };
        Ok(self.documents.get((), invocation, fetch).await?.into())
    }
}

async fn data(table: Session<'_>, now: UnixSeconds) -> Result<ServiceStatus, Error> {
    let (heartbeats, recorded_since) = try_join(heartbeats(table), recorded_since(table, now)).await?;
    let feeds = FEEDS.into_iter().zip(heartbeats).zip(recorded_since);
    let feeds = feeds.map(|((feed, heartbeat), since)| FeedStatus::of(feed, heartbeat.as_ref(), since, now));
    let feeds: Vec<_> = feeds.collect();
    let is_healthy = feeds.iter().all(|feed| feed.is_healthy);
    Ok(ServiceStatus { version: env!("CARGO_PKG_VERSION"), checked_at: now, feeds, is_healthy })
}

/// Returns the time of the oldest record of each feed, in the order of `FEEDS`.
async fn recorded_since(
    table: Session<'_>,
    now: UnixSeconds,
) -> Result<[Option<UnixSeconds>; FEEDS.len()], Error> {
    // Boxed, because the future of a query takes several kilobytes.
    let [finest, .., daily] = &INTERVALS;
    let candles = oldest_of(table, [daily, finest], now).boxed();
    let mayors = mayors::recorded_since(table).boxed();
    let fire_sales = fire_sales::recorded_since(table).boxed();
    let [hourly, daily_auctions] = &auctions::INTERVALS;
    let auctions = oldest_of(table, [daily_auctions, hourly, &ONE_MINUTE], now).boxed();
    let (candles, mayors, fire_sales, auctions) = try_join4(candles, mayors, fire_sales, auctions).await?;
    // The feed `bazaar` has the same oldest record as `candles`: minutes of the bazaar expire, but their
    // candles stay.
    Ok([candles, candles, mayors, fire_sales, auctions])
}

/// Returns the start of the oldest slot in the first of `intervals` that has a slot. `intervals` starts with
/// the interval whose slots are kept longest. Usually reads one row.
async fn oldest_of<const N: usize>(
    table: Session<'_>,
    intervals: [&'static Interval; N],
    now: UnixSeconds,
) -> Result<Option<UnixSeconds>, Error> {
    for interval in intervals {
        if let Some(oldest) = series::oldest(table, interval, now).await? {
            return Ok(Some(oldest.start));
        }
    }
    Ok(None)
}

impl Describe for Status {
    fn description() -> Description {
        Description::of::<ServiceStatus>(Self::ROUTE, include_str!("../example.json"))
    }
}
