//! A cloud in the storm, with its upstream and its journal.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::routes::VERSION_1;
use fastrand::Rng;
use hyper::Method;
use jiff::Timestamp;
use local::{Binaries, Cloud, Options};
use serde_json::Value;

use super::exchange::{Caller, Exchange};
use super::journal::{Journal, Moment, Recorded};
use super::past::Archive;
use super::query::{Kind, OBSERVED, Query};
use super::snapshot::Game;
use super::upstream::Upstream;
use super::weather;
use crate::support::{KEY_HEADER, get_at, send_with, start_with, with_parameters};

/// More instances than clients, so that no request waits for one: AWS has no queue either.
const INSTANCES: u16 = 12;

/// A client that gets no response for this long has found a failure.
const PATIENCE: Duration = Duration::from_mins(3);

/// One cloud of the storm.
pub(super) struct StormCloud {
    pub(super) name: &'static str,
    pub(super) local: Cloud,
    pub(super) upstream: Upstream,
    pub(super) journal: Arc<Journal>,
    pub(super) has_stage_cache: bool,
}

impl StormCloud {
    pub(super) async fn start(
        name: &'static str,
        seed: u64,
        options: Options,
        game: &Arc<Game>,
        has_stage_cache: bool,
    ) -> Self {
        let journal = Arc::new(Journal::new(options.clock.clone(), OBSERVED.to_vec()));
        let seed = seed.wrapping_add(u64::from(has_stage_cache));
        let upstream = Upstream::start(Arc::clone(game), Arc::clone(&journal), seed).await;
        let lines = Arc::clone(&journal);
        let options = Options {
            upstream: local::Upstream::Url(upstream.url()),
            schedules: true,
            throttling: true,
            concurrency: NonZeroU16::new(INSTANCES).unwrap(),
            binaries: binaries(),
            function_log: Some(Arc::new(move |line| note(&lines, line))),
            ..options
        };
        let cache = if has_stage_cache { "on" } else { "off" };
        let parameters = [
            ("GatewayCache", cache),
            ("ProRateLimit", "100000"),
            ("ProBurstLimit", "100000"),
            ("ProfileRateLimit", "100000"),
            ("ProfileBurstLimit", "100000"),
            ("StarterRateLimit", "1"),
            ("StarterBurstLimit", "1"),
        ];
        let local = start_with(with_parameters(options, &parameters)).await;
        Self { name, local, upstream, journal, has_stage_cache }
    }

    pub(super) fn set_weather(&self, rng: &mut Rng, is_hanging: bool) {
        self.upstream.set(weather::upstream(rng, is_hanging));
        for (kind, fault) in weather::database(rng, is_hanging) {
            self.journal.count(kind);
            self.local.dynamodb().set_fault(fault);
        }
    }

    /// Sends the request.
    ///
    /// # Errors
    /// If there is no response.
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
        let path = query.path.clone();
        let response = tokio::time::timeout(PATIENCE, send_with(&url, Method::GET, &path, &headers)).await;
        let response = response.map_err(|_| format!("{path}: no response"))?;
        let received = Moment::now(&self.journal.clock);
        Ok(Exchange { query, caller, sent, received, response })
    }

    pub(super) async fn kill_all(&self) {
        for function in self.local.template().functions.values() {
            self.local.kill(&function.binary).await.unwrap();
        }
    }

    /// One of these recorders that has recorded no tick after this time in Unix seconds.
    pub(super) fn unrecorded_since<'names>(
        &self,
        recorders: &[&'names str],
        time: i64,
    ) -> Option<&'names str> {
        let recorded = self.journal.recorded();
        let has_recorded =
            |recorder: &str| recorded.iter().any(|line| line.recorder == recorder && line.tick > time);
        recorders.iter().copied().find(|recorder| !has_recorded(recorder))
    }

    /// Says that the recorder records nothing, with the end of its log.
    pub(super) fn describe_missing(&self, recorder: &str) -> String {
        let lines: Vec<_> = self.local.logs().into_iter().filter(|line| line.contains(recorder)).collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n");
        format!("{}: {recorder} records nothing. The end of its log:\n{last}\n", self.name)
    }

    /// All histories, read without the gateway. Candles contain what was recorded before that time.
    pub(super) async fn archive(&self, recorded_until: Instant) -> Archive {
        let now_ms = self.journal.clock.now_ms();
        let read = async |path: &str| get_at(&self.local, path, now_ms).await.data();
        let mut archive = Archive {
            charts: BTreeMap::new(),
            candles: BTreeMap::new(),
            mayors: read("/v1/mayor/history?limit=100").await,
            sales: read("/v1/fire-sales/history?limit=200").await,
            prices: read("/v1/auctions/prices").await,
            now_ms,
            now: now_ms / 1_000,
            recorded_until,
        };
        for query in Archive::queries(&self.journal) {
            match query.kind {
                Kind::Chart { id, range } => {
                    archive.charts.insert((id, range), read(&query.path).await);
                }
                Kind::Candles { id, interval, .. } => {
                    archive.candles.insert((id, interval), read(&query.path).await);
                }
                _ => unreachable!("not a history"),
            }
        }
        archive
    }
}

/// The functions: of this version, or those in the folder `STORM_BINARIES`, which may be of another one.
fn binaries() -> Binaries {
    match std::env::var_os("STORM_BINARIES") {
        Some(folder) => Binaries::Folder(folder.into()),
        None => Options::for_tests().binaries,
    }
}

/// Notes a line about a failure of a function, or a recorder's about a recorded tick.
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
    let has_recorded = line["message"] == "recorded";
    if has_recorded || line["message"] == "nothing to record" {
        journal.end(text("function"));
    }
    if !has_recorded {
        return;
    }
    journal.record(Recorded {
        recorder: text("function").to_owned(),
        tick: text("tick").parse::<Timestamp>().unwrap().as_second(),
        outcome: serde_json::from_str(text("recorded")).unwrap(),
        logged: Moment::now(&journal.clock),
    });
}
