//! A storm: clients request every route while the upstream, DynamoDB and the functions' hosts fail by chance, and the clock jumps.
//! Every response must be right or an honest error, and in the end history must be complete.
//!
//! There are two clouds, one with a stage cache and one without, which share a clock and a game. `STORM_SECONDS` sets the
//! length, `STORM_SEED` repeats a storm as far as its concurrency allows. Each storm prints its seed and a summary.

mod expected;
mod journal;
mod past;
mod processes;
mod query;
mod snapshot;
mod summary;
mod upstream;
mod verdict;
mod weather;

use std::io::Write;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use hyper::Method;
use jiff::Timestamp;
use local::{Binaries, Cloud, Options};
use serde_json::Value;
use simulator::{Clock, election, fire_sales};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use self::journal::{Journal, Moment, Recorded};
use self::past::Archive;
use self::processes::Peaks;
use self::query::{Kind, Query};
use self::snapshot::Game;
use self::summary::Summary;
use self::upstream::{Upstream, Weather};
use self::verdict::{Caller, Court, Exchange};
use crate::support::{KEY_HEADER, RECORDERS, get_at, send_with, start_with, with_parameters};

/// The usual length of a storm.
const USUAL_SECONDS: u64 = 30;

/// The clients of each cloud.
const CLIENTS: u64 = 4;

/// More instances than clients, so that no request waits for one: AWS has no queue either.
const INSTANCES: u16 = 12;

/// A client that gets no response for this long has found a failure.
const PATIENCE: Duration = Duration::from_secs(40);

/// After the storm, recorders must record one of this many ticks, and may take this long for it on a busy machine.
const MOST_TICKS: u32 = 4;
const TICK_PATIENCE: Duration = Duration::from_secs(25);

/// For how long an election that closes during the storm is still open at its start.
const BEFORE_ELECTION_MS: i64 = 25 * 60_000;

/// The products whose history is checked.
const OBSERVED: [&str; 12] = [
    "INK_SACK:3",
    "ENCHANTED_DIAMOND",
    "ENCHANTED_COAL",
    "ENCHANTED_IRON",
    "ENCHANTED_GOLD",
    "ENCHANTED_LAPIS_LAZULI",
    "ENCHANTED_REDSTONE",
    "COAL",
    "WHEAT",
    "CARROT_ITEM",
    "SUGAR_CANE",
    "DIAMOND",
];

/// One cloud of the storm.
struct Place {
    name: &'static str,
    cloud: Cloud,
    upstream: Upstream,
    journal: Arc<Journal>,
    has_stage_cache: bool,
}

/// Everything that the clients share.
struct Storm {
    seed: u64,
    clock: Clock,
    places: Vec<Place>,
    /// Clients hold it while they wait for a response, so that no clock jumps meanwhile.
    gate: RwLock<()>,
    over: AtomicBool,
    summary: Mutex<Summary>,
    peaks: Mutex<Peaks>,
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_storm_every_response_is_right_or_an_honest_error() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("STORM_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
    let seconds = number("STORM_SECONDS").unwrap_or(USUAL_SECONDS);
    print(&format!("storm of {seconds} s, STORM_SEED={seed}"));
    let storm = Arc::new(Storm::start(seed).await);
    storm.rage(Duration::from_secs(seconds)).await;
    storm.calm_down().await;
    let storm = Arc::into_inner(storm).unwrap();
    let summary = storm.end().await;
    print(&summary.to_string());
    summary.expect_good(seed);
}

/// Prints a line that is also shown if the test passes.
#[expect(clippy::explicit_write, reason = "the test harness captures what macros print")]
fn print(text: &str) {
    writeln!(std::io::stderr(), "{text}").unwrap();
}

/// Shortly before a mayor's term ends, while there are fire sales.
fn start_ms(seed: u64) -> i64 {
    let ends = (520_i64..).map(election::closes_at);
    let mut starts = ends.map(|end| end - BEFORE_ELECTION_MS);
    starts.find(|start| fire_sales::body(seed, *start).contains("item_id")).unwrap()
}

impl Storm {
    async fn start(seed: u64) -> Self {
        let clock = Clock::system();
        clock.set(start_ms(seed));
        let game = Arc::new(Game::new(seed));
        let mut places = Vec::new();
        for (name, has_stage_cache) in [("without a stage cache", false), ("with a stage cache", true)] {
            places.push(Place::start(name, seed, &clock, &game, has_stage_cache).await);
        }
        Self {
            seed,
            clock,
            places,
            gate: RwLock::default(),
            over: AtomicBool::new(false),
            summary: Mutex::default(),
            peaks: Mutex::default(),
        }
    }

    /// Lets clients send requests for this long, in rounds. Each round has its own weather; the clock jumps after it.
    async fn rage(self: &Arc<Self>, length: Duration) {
        let end = Instant::now() + length;
        let mut rng = Rng::with_seed(self.seed);
        let mut clients = JoinSet::new();
        let closed = Arc::clone(self);
        let mut closed = Some(closed.gate.write().await);
        for number in 0..CLIENTS * u64::try_from(self.places.len()).unwrap() {
            clients.spawn(Arc::clone(self).client(number));
        }
        clients.spawn(Arc::clone(self).watch());
        let mut round = 0;
        while Instant::now() < end && !self.summary.lock().unwrap().is_lost() {
            round += 1;
            // The clients that got a response wait for the one that did not, so these rounds are few.
            let is_hanging = round == 4 || rng.u32(..12) == 0;
            for place in &self.places {
                place.set_weather(&mut rng, is_hanging);
            }
            drop(closed.take());
            let length = if is_hanging { 4_000..6_000 } else { 900..2_400 };
            let round_end = (Instant::now() + Duration::from_millis(rng.u64(length))).min(end);
            while Instant::now() < round_end {
                tokio::time::sleep(Duration::from_millis(rng.u64(40..400))).await;
                self.kill_one(&mut rng).await;
            }
            closed = Some(self.gate.write().await);
            for place in &self.places {
                place.cloud.dynamodb().clear_faults();
                place.journal.prune();
            }
            self.clock.advance(weather::jump(&mut rng));
        }
        self.over.store(true, Ordering::Relaxed);
        drop(closed);
        while let Some(ended) = clients.join_next().await {
            ended.unwrap();
        }
    }

    async fn client(self: Arc<Self>, number: u64) {
        let places = u64::try_from(self.places.len()).unwrap();
        let place = usize::try_from(number % places).unwrap();
        let mut rng = Rng::with_seed(self.seed ^ (number + 1) << 32);
        while !self.over.load(Ordering::Relaxed) {
            let query = Query::any(&mut rng, &OBSERVED);
            let caller = match rng.u32(..50) {
                0 => Caller::Lapsed,
                1 => Caller::Revoked,
                2 => Caller::Nobody,
                3..11 => Caller::Starter,
                _ => Caller::Pro,
            };
            let under_way = self.gate.read().await;
            let exchange = self.places[place].exchange(query, caller).await;
            drop(under_way);
            let storm = Arc::clone(&self);
            tokio::task::spawn_blocking(move || storm.judge(place, exchange)).await.unwrap();
        }
    }

    /// Judges a response, and notes the verdict.
    fn judge(&self, place: usize, exchange: Result<Exchange, String>) {
        let place = &self.places[place];
        let court =
            Court { journal: &place.journal, has_stage_cache: place.has_stage_cache, seed: self.seed };
        let verdict = exchange.and_then(|exchange| {
            let verdict = court.judge(&exchange).map_err(|reason| {
                let Exchange { query, caller, response, received, .. } = &exchange;
                let time = Timestamp::from_millisecond(received.cloud_ms).unwrap();
                let (status, headers) = (response.status, &response.headers);
                let last_modified = headers.get("last-modified");
                format!("{} at {time} for {caller:?}, {status}, {last_modified:?}: {reason}", query.path)
            })?;
            Ok((verdict, exchange))
        });
        let mut summary = self.summary.lock().unwrap();
        match verdict {
            Ok((verdict, exchange)) => summary.add(verdict, &exchange),
            Err(reason) => summary.add_wrong(format!("{}: {reason}", place.name)),
        }
    }

    /// Kills a process of a function, perhaps.
    async fn kill_one(&self, rng: &mut Rng) {
        if rng.bool() {
            return;
        }
        let running = processes::running();
        let Some(process) = rng.choice(&running) else { return };
        // Another test of this binary may have clouds of its own.
        let Some(place) = self.places.iter().find(|place| place.cloud.dynamodb().url() == process.database)
        else {
            return;
        };
        place.journal.trouble(weather::function(&process.function), "kill -9", Duration::from_secs(1));
        process.kill().await;
    }

    /// Watches the memory of the functions, and how busy the machine is.
    async fn watch(self: Arc<Self>) {
        const PAUSE: Duration = Duration::from_millis(100);
        while !self.over.load(Ordering::Relaxed) {
            self.look_at_memory();
            let started = Instant::now();
            tokio::time::sleep(PAUSE).await;
            self.summary.lock().unwrap().add_lag(started.elapsed().saturating_sub(PAUSE));
        }
    }

    fn look_at_memory(&self) {
        let mut running = processes::running();
        running.retain(|process| {
            self.places.iter().any(|place| place.cloud.dynamodb().url() == process.database)
        });
        self.peaks.lock().unwrap().update(&running);
    }

    /// Ends all faults. Then recorders must record, and every route must respond.
    async fn calm_down(&self) {
        for place in &self.places {
            place.upstream.set(Weather::CALM);
            place.cloud.dynamodb().clear_faults();
        }
        self.look_at_memory();
        // Events that hang, and functions that wait because of a 429, would otherwise take a minute.
        for place in &self.places {
            place.kill_all().await;
        }
        if let Some(missing) = self.await_recorders().await {
            self.summary.lock().unwrap().add_wrong(format!("{missing} after the storm"));
            return;
        }
        for place in 0..self.places.len() {
            self.places[place].kill_all().await;
            for query in Query::every_route(OBSERVED[0]) {
                let path = query.path.clone();
                let exchange = self.places[place].exchange(query, Caller::Pro).await;
                let status = exchange.as_ref().map(|exchange| exchange.response.status.as_u16());
                if status != Ok(200) {
                    let name = self.places[place].name;
                    self.summary
                        .lock()
                        .unwrap()
                        .add_wrong(format!("{name}: {path} is {status:?} after the storm"));
                }
                self.judge(place, exchange);
            }
            self.places[place].kill_all().await;
            match self.places[place].archive().await.expect_complete(&self.places[place].journal) {
                Ok((ticks, points)) => self.summary.lock().unwrap().add_history(ticks, points),
                Err(reason) => {
                    let name = self.places[place].name;
                    self.summary.lock().unwrap().add_wrong(format!("{name}: history: {reason}"));
                }
            }
        }
        self.look_at_memory();
    }

    /// Waits until every recorder has recorded a tick from now on, and returns one that does not.
    async fn await_recorders(&self) -> Option<String> {
        let since = self.clock.now_ms() / 1_000;
        let mut missing = None;
        for _ in 0..MOST_TICKS {
            self.clock.advance(Duration::from_mins(5));
            let started = Instant::now();
            while started.elapsed() < TICK_PATIENCE {
                missing = self.places.iter().find_map(|place| place.unrecorded_since(since));
                missing.as_ref()?;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        missing
    }

    /// Stops the clouds.
    async fn end(self) -> Summary {
        let mut summary = self.summary.into_inner().unwrap();
        summary.set_peaks(self.peaks.into_inner().unwrap().0);
        for place in self.places {
            summary.add_counts(&place.journal.counts());
            for line in place.cloud.logs() {
                if line.contains("panicked") {
                    summary.add_wrong(line);
                }
            }
            place.cloud.shutdown().await;
        }
        summary
    }
}

impl Place {
    async fn start(
        name: &'static str,
        seed: u64,
        clock: &Clock,
        game: &Arc<Game>,
        has_stage_cache: bool,
    ) -> Self {
        let journal = Arc::new(Journal::new(clock.clone(), OBSERVED.to_vec()));
        let seed = seed.wrapping_add(u64::from(has_stage_cache));
        let upstream = Upstream::start(Arc::clone(game), Arc::clone(&journal), seed).await;
        let lines = Arc::clone(&journal);
        let options = Options {
            upstream: local::Upstream::Url(upstream.url()),
            schedules: true,
            throttling: true,
            concurrency: NonZeroU16::new(INSTANCES).unwrap(),
            clock: clock.clone(),
            binaries: binaries(),
            function_log: Some(Arc::new(move |line| note_recorded(&lines, line))),
            ..Options::for_tests()
        };
        let cache = if has_stage_cache { "on" } else { "off" };
        let parameters = [
            ("GatewayCache", cache),
            ("ProRateLimit", "100000"),
            ("ProBurstLimit", "100000"),
            ("StarterRateLimit", "1"),
            ("StarterBurstLimit", "1"),
        ];
        let cloud = start_with(with_parameters(options, &parameters)).await;
        Self { name, cloud, upstream, journal, has_stage_cache }
    }

    fn set_weather(&self, rng: &mut Rng, is_hanging: bool) {
        self.upstream.set(weather::upstream(rng, is_hanging));
        for (kind, fault) in weather::database(rng, is_hanging) {
            self.journal.trouble_for(&weather::TABLE_FUNCTIONS, kind, weather::LONGEST_ROUND);
            self.cloud.dynamodb().set_fault(fault);
        }
    }

    /// Sends the request.
    ///
    /// # Errors
    /// If there is no response.
    async fn exchange(&self, query: Query, caller: Caller) -> Result<Exchange, String> {
        let keys = self.cloud.keys().unwrap();
        let key = match caller {
            Caller::Pro => Some(&keys.pro),
            Caller::Starter => Some(&keys.starter),
            Caller::Lapsed => Some(&keys.lapsed),
            Caller::Revoked => Some(&keys.revoked),
            Caller::Nobody => None,
        };
        let headers: Vec<_> = key.map(|key| (KEY_HEADER, key.expose())).into_iter().collect();
        let url = self.cloud.url();
        let sent = Moment::now(&self.journal.clock);
        let response = send_with(&url, Method::GET, &query.path, &headers);
        let response = tokio::time::timeout(PATIENCE, response).await;
        let response = response.map_err(|_| format!("{}: no response", query.path))?;
        Ok(Exchange { query, caller, sent, received: Moment::now(&self.journal.clock), response })
    }

    async fn kill_all(&self) {
        for function in self.cloud.template().functions.values() {
            self.cloud.kill(&function.binary).await.unwrap();
        }
    }

    /// A recorder that has recorded no tick after this time in Unix seconds.
    fn unrecorded_since(&self, time: i64) -> Option<String> {
        let recorded = self.journal.recorded();
        let has_recorded =
            |recorder: &str| recorded.iter().any(|line| line.recorder == recorder && line.tick > time);
        let missing = RECORDERS.into_iter().find(|recorder| !has_recorded(recorder))?;
        let lines: Vec<_> = self.cloud.logs().into_iter().filter(|line| line.contains(missing)).collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n");
        Some(format!("{}: {missing} records nothing. The end of its log:\n{last}\n", self.name))
    }

    /// All histories, read without the gateway.
    async fn archive(&self) -> Archive {
        let now_ms = self.journal.clock.now_ms();
        let read = async |path: &str| get_at(&self.cloud, path, now_ms).await.data();
        let mut archive = Archive {
            charts: std::collections::BTreeMap::new(),
            mayors: read("/v1/mayor/history?limit=100").await,
            sales: read("/v1/fire-sales/history?limit=200").await,
            now: now_ms / 1_000,
        };
        for query in Archive::queries(&self.journal) {
            if let Kind::Chart { id, range } = query.kind {
                archive.charts.insert((id, range), read(&query.path).await);
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

/// Notes a recorder's line about a recorded tick.
fn note_recorded(journal: &Journal, line: &str) {
    let Ok(line) = serde_json::from_str::<Value>(line) else { return };
    if line["message"] != "recorded" {
        return;
    }
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    journal.record(Recorded {
        recorder: text("function").to_owned(),
        tick: text("tick").parse::<Timestamp>().unwrap().as_second(),
        outcome: serde_json::from_str(text("recorded")).unwrap(),
        logged: Instant::now(),
    });
}
