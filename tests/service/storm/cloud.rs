//! Starts the cloud of the storm, with its upstream and its journal, and sends it requests.

use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::routes::VERSION_1;
use fastrand::Rng;
use hyper::Method;
use jiff::Timestamp;
use local::{Cloud, Options};
use serde_json::Value;
use simulator::Clock;

use super::history;
use super::journal::{Journal, Moment, OBSERVED, Recorded};
use super::query::Query;
use super::upstream::Upstream;
use super::weather;
use crate::support::{KEY_HEADER, Response, get_at, send_with, start_with, with_parameters};

/// The number of instances of each function. There are more instances than clients, so no request waits for
/// an instance, as on AWS.
const INSTANCES: u16 = 12;

/// A request without a response for this long is a failure.
const PATIENCE: Duration = Duration::from_mins(3);

/// The owner of a request's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Pro,
    /// A caller with a low limit.
    Starter,
    Lapsed,
    Revoked,
    WithoutKey,
}

pub(super) struct Exchange {
    pub(super) query: Query,
    pub(super) caller: Caller,
    pub(super) sent: Moment,
    pub(super) received: Moment,
    pub(super) response: Response,
}

pub(super) struct StormCloud {
    pub(super) seed: u64,
    pub(super) local: Cloud,
    pub(super) upstream: Upstream,
    pub(super) journal: Arc<Journal>,
    pub(super) has_stage_cache: bool,
    /// An earlier object with running auctions.
    earlier: Mutex<Vec<u8>>,
}

impl StormCloud {
    pub(super) async fn start(seed: u64, clock: Clock) -> Self {
        let journal = Arc::new(Journal::new(clock.clone()));
        let upstream = Upstream::start(Arc::clone(&journal), seed).await;
        let lines = Arc::clone(&journal);
        let options = Options {
            clock,
            upstream: local::Upstream::Url(upstream.simulator.url()),
            schedules: true,
            // The schedules begin at a random second of the minute.
            schedules_begin_after: Duration::from_millis(Rng::with_seed(seed).u64(..60_000)),
            throttling: true,
            concurrency: NonZeroU16::new(INSTANCES).unwrap(),
            function_log: Some(Arc::new(move |line| note(&lines, line))),
            ..Options::for_tests()
        };
        let has_stage_cache = seed % 2 == 1;
        let parameters = [
            ("GatewayCache", if has_stage_cache { "on" } else { "off" }),
            ("ProRateLimit", "100000"),
            ("ProBurstLimit", "100000"),
            ("ProfileRateLimit", "100000"),
            ("ProfileBurstLimit", "100000"),
            ("StarterRateLimit", "1"),
            ("StarterBurstLimit", "1"),
        ];
        let local = start_with(with_parameters(options, &parameters)).await;
        Self { seed, local, upstream, journal, has_stage_cache, earlier: Mutex::default() }
    }

    pub(super) fn set_weather(&self, rng: &mut Rng, is_hanging: bool) {
        self.upstream.set(weather::upstream(rng, is_hanging));
        for (kind, fault) in weather::database(rng, is_hanging) {
            self.journal.count(kind);
            self.local.dynamodb().set_fault(fault);
        }
        self.harm_listings(rng);
    }

    /// Deletes or replaces the object with running auctions, or does nothing, at random.
    fn harm_listings(&self, rng: &mut Rng) {
        let file = self.local.listings().join("listings");
        let present = std::fs::read(&file).unwrap_or_default();
        let Some((kind, content)) = weather::object(rng, &present, &mut self.earlier.lock().unwrap()) else {
            return;
        };
        self.journal.count(kind);
        if let Some(content) = content {
            let other = self.local.listings().with_extension("other");
            std::fs::write(&other, content).unwrap();
            std::fs::rename(other, file).unwrap();
        } else {
            // There may be none.
            let _ = std::fs::remove_file(file);
        }
    }

    /// Sends the request.
    pub(super) async fn exchange(&self, query: Query, caller: Caller) -> Result<Exchange, String> {
        let keys = self.local.keys().unwrap();
        let key = match caller {
            Caller::Pro => Some(&keys.pro),
            Caller::Starter => Some(&keys.starter),
            Caller::Lapsed => Some(&keys.lapsed),
            Caller::Revoked => Some(&keys.revoked),
            Caller::WithoutKey => None,
        };
        let headers: Vec<_> = key.map(|key| (KEY_HEADER, key.expose())).into_iter().collect();
        let url = self.local.url();
        let sent = Moment::now(&self.journal.clock);
        let request = send_with(&url, Method::GET, &query.path, &headers);
        let response = tokio::time::timeout(PATIENCE, request)
            .await
            .map_err(|_| format!("{}: no response", query.path))?;
        let received = Moment::now(&self.journal.clock);
        Ok(Exchange { query, caller, sent, received, response })
    }

    /// Kills the processes of a random function, or does nothing, at random.
    pub(super) async fn kill_one(&self, rng: &mut Rng) {
        if rng.bool() {
            self.journal.count("a host dies");
            let function = rng.choice(self.local.template().functions.values()).unwrap();
            self.local.kill(&function.binary).await.unwrap();
        }
    }

    pub(super) async fn kill_all(&self) {
        for function in self.local.template().functions.values() {
            self.local.kill(&function.binary).await.unwrap();
        }
    }

    /// Requests the last hour of the bazaar's history without the gateway, and checks that it has every
    /// recorded minute. Returns the number of points.
    ///
    /// # Errors
    /// The first missing or wrong point.
    pub(super) async fn expect_recorded(&self) -> Result<usize, String> {
        let now_ms = self.journal.clock.now_ms();
        let mut charts = Vec::new();
        for id in OBSERVED {
            let path = format!("/v1/bazaar/history?item_id={id}&range=1h");
            charts.push((id, get_at(&self.local, &path, now_ms).await.data()));
        }
        history::expect_recorded(&self.journal, &charts, now_ms / 1_000)
    }
}

/// Adds a log line to the journal if it is about a function's failure or a recorded minute of the bazaar.
fn note(journal: &Journal, line: &str) {
    let of_platform = line.strip_prefix("local: ").and_then(|line| line.split_once(": request "));
    if let Some((function, reason)) = of_platform {
        return journal.fail(function, reason);
    }
    let Ok(line) = serde_json::from_str::<Value>(line) else { return };
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    let is_of_client = line["status"].as_u64().is_some_and(|status| (400..500).contains(&status));
    if line["cause"].is_string() && !is_of_client {
        let route = VERSION_1.into_iter().find(|route| route.path == text("route"));
        journal.fail(route.map_or(text("function"), |route| route.function), text("cause"));
    }
    let is_recorded = ["recorded", "recorded again"].contains(&text("message"));
    if is_recorded && line["function"] == "record-bazaar" {
        let tick = text("tick").parse::<Timestamp>().unwrap().as_second();
        journal.entries().recorded.push(Recorded { tick, logged: Moment::now(&journal.clock) });
    }
}
