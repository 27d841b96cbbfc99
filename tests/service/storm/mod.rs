//! A storm: clients request every route while the upstream, DynamoDB and the functions' hosts fail by chance, and the clock jumps.
//! Every response must be right or an honest error, and in the end history must be complete.
//!
//! There are two clouds, one with a stage cache and one without, which share a clock and a game. `STORM_SECONDS` sets the
//! length, `STORM_SEED` repeats a storm as far as its concurrency allows. Each storm prints its seed and a summary.

mod candles;
mod cloud;
mod exchange;
mod journal;
mod past;
mod prices;
mod processes;
mod query;
mod snapshot;
mod summary;
mod upstream;
mod verdict;
mod weather;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use local::Options;
use simulator::{Clock, election, fire_sales};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use self::cloud::StormCloud;
use self::exchange::{Caller, Exchange};
use self::past::Checked;
use self::query::{OBSERVED, Query};
use self::snapshot::Game;
use self::summary::Summary;
use self::upstream::Weather;
use self::verdict::ResponseCheck;
use crate::support::RECORDERS;

/// The usual length of a storm.
const USUAL_SECONDS: u64 = 15;

/// The clients of each cloud.
const CLIENTS: u64 = 4;

/// After the storm, recorders must record one of this many ticks, and may take this long for each on a busy machine.
const MOST_TICKS: u32 = 12;
const TICK_PATIENCE: Duration = Duration::from_mins(2);

/// After the storm, a route may fail and a history be under way this often.
const MOST_TRIES: u32 = 10;

/// Within this time a run of `record-candles` is due that builds the interval of now: it ends, is settled after two minutes, and runs
/// are five minutes apart.
const NEXT_CANDLES: Duration = Duration::from_mins(8);

/// For how long an election that closes during the storm is still open at its start.
const BEFORE_ELECTION_MS: i64 = 25 * 60_000;

/// Everything that the clients share.
struct Storm {
    seed: u64,
    clock: Clock,
    clouds: Vec<StormCloud>,
    /// Clients hold it while they wait for a response, so that no clock jumps meanwhile.
    gate: RwLock<()>,
    over: AtomicBool,
    summary: Mutex<Summary>,
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
        let mut clouds = Vec::new();
        for (name, has_stage_cache) in [("without a stage cache", false), ("with a stage cache", true)] {
            let options = Options { clock: clock.clone(), ..Options::for_tests() };
            clouds.push(StormCloud::start(name, seed, options, &game, has_stage_cache).await);
        }
        Self {
            seed,
            clock,
            clouds,
            gate: RwLock::default(),
            over: AtomicBool::new(false),
            summary: Mutex::default(),
        }
    }

    /// Lets clients send requests for this long, in rounds. Each round has its own weather; the clock jumps after it.
    async fn rage(self: &Arc<Self>, length: Duration) {
        let end = Instant::now() + length;
        let mut rng = Rng::with_seed(self.seed);
        let mut clients = JoinSet::new();
        let closed = Arc::clone(self);
        let mut closed = Some(closed.gate.write().await);
        for number in 0..CLIENTS * u64::try_from(self.clouds.len()).unwrap() {
            clients.spawn(Arc::clone(self).client(number));
        }
        let mut round = 0;
        while Instant::now() < end && !self.summary.lock().unwrap().is_lost() {
            round += 1;
            // The clients that got a response wait for the one that did not, so these rounds are few.
            let is_hanging = round == 4 || rng.u32(..12) == 0;
            for cloud in &self.clouds {
                cloud.set_weather(&mut rng, is_hanging);
            }
            drop(closed.take());
            let length = if is_hanging { 4_000..6_000 } else { 900..2_400 };
            let round_end = (Instant::now() + Duration::from_millis(rng.u64(length))).min(end);
            while Instant::now() < round_end {
                tokio::time::sleep(Duration::from_millis(rng.u64(40..400))).await;
                self.kill_one(&mut rng).await;
            }
            closed = Some(self.gate.write().await);
            for cloud in &self.clouds {
                cloud.local.dynamodb().clear_faults();
                cloud.journal.prune();
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
        let clouds = u64::try_from(self.clouds.len()).unwrap();
        let cloud = usize::try_from(number % clouds).unwrap();
        let mut rng = Rng::with_seed(self.seed ^ (number + 1) << 32);
        while !self.over.load(Ordering::Relaxed) {
            let query = Query::any(&mut rng, &OBSERVED);
            let caller = match rng.u32(..50) {
                0 => Caller::Lapsed,
                1 => Caller::Revoked,
                2 => Caller::WithoutKey,
                3..11 => Caller::Starter,
                _ => Caller::Pro,
            };
            let under_way = self.gate.read().await;
            let exchange = self.clouds[cloud].exchange(query, caller).await;
            drop(under_way);
            let storm = Arc::clone(&self);
            tokio::task::spawn_blocking(move || storm.judge(cloud, exchange)).await.unwrap();
        }
    }

    /// Judges a response, and notes the verdict.
    fn judge(&self, cloud: usize, exchange: Result<Exchange, String>) {
        let cloud = &self.clouds[cloud];
        let check = ResponseCheck {
            journal: &cloud.journal,
            has_stage_cache: cloud.has_stage_cache,
            seed: self.seed,
        };
        let verdict = exchange.and_then(|exchange| {
            let verdict = check.verdict(&exchange).map_err(|reason| {
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
            Err(reason) => summary.add_wrong(format!("{}: {reason}", cloud.name)),
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
        let Some(cloud) = self.clouds.iter().find(|cloud| cloud.local.dynamodb().url() == process.database)
        else {
            return;
        };
        cloud.journal.count("kill -9");
        process.kill().await;
    }

    /// Ends all faults. Then recorders must record, and every route must respond.
    async fn calm_down(&self) {
        for cloud in &self.clouds {
            cloud.upstream.set(Weather::CALM);
            cloud.local.dynamodb().clear_faults();
        }
        // From now on, recorders run only when the clock advances.
        self.clock.stop_at(self.clock.now_ms());
        // Events that hang, and functions that wait because of a 429, would otherwise take a minute.
        for cloud in &self.clouds {
            cloud.kill_all().await;
        }
        if let Some(missing) = self.await_recorders().await {
            self.summary.lock().unwrap().add_wrong(format!("{missing} after the storm"));
            return;
        }
        let recorded_until = Instant::now();
        if let Some(missing) = self.await_candles().await {
            self.summary.lock().unwrap().add_wrong(format!("{missing} after the storm"));
            return;
        }
        if let Some(missing) = self.await_auctions().await {
            self.summary.lock().unwrap().add_wrong(format!("{missing} after the storm"));
            return;
        }
        for cloud in 0..self.clouds.len() {
            self.clouds[cloud].kill_all().await;
            for query in Query::every_route(OBSERVED[0]) {
                self.expect_success(cloud, &query).await;
            }
            match self.expect_complete(cloud, recorded_until).await {
                Ok(checked) => self.summary.lock().unwrap().add_history(checked),
                Err(reason) => {
                    let name = self.clouds[cloud].name;
                    self.summary.lock().unwrap().add_wrong(format!("{name}: history: {reason}"));
                }
            }
        }
    }

    /// Expects no failure, if not of the first request: on a busy machine, a cold start can take too long. A 404 is judged like every
    /// response: the game does not list every product at every time.
    async fn expect_success(&self, cloud: usize, query: &Query) {
        for _ in 0..MOST_TRIES {
            let exchange = self.clouds[cloud].exchange(query.clone(), Caller::Pro).await;
            let is_good = exchange
                .as_ref()
                .is_ok_and(|exchange| matches!(exchange.response.status.as_u16(), 200 | 404));
            self.judge(cloud, exchange);
            if is_good {
                return;
            }
        }
        let name = self.clouds[cloud].name;
        self.summary.lock().unwrap().add_wrong(format!("{name}: {} fails after the storm", query.path));
    }

    /// Expects the history to be complete. A recorder that is killed here, or that works while the history is read, can leave a slot
    /// half replaced: the next runs complete it.
    async fn expect_complete(&self, cloud: usize, recorded_until: Instant) -> Result<Checked, String> {
        let mut result = Err(String::new());
        for _ in 0..MOST_TRIES {
            let cloud = &self.clouds[cloud];
            cloud.kill_all().await;
            result = cloud.archive(recorded_until).await.expect_complete(&cloud.journal);
            if result.is_ok() {
                break;
            }
            self.await_recorders().await;
        }
        result
    }

    /// Waits until every recorder has recorded a tick from now on, and returns one that does not.
    async fn await_recorders(&self) -> Option<String> {
        self.await_ticks(&RECORDERS, Duration::from_mins(5)).await
    }

    /// Waits until candles contain all that is recorded now, and returns the recorder if they do not.
    async fn await_candles(&self) -> Option<String> {
        self.await_ticks(&["record-candles"], NEXT_CANDLES).await
    }

    /// Waits until prices of auctions are those of a recorder that has just read all pages, and returns the recorder if they are not.
    async fn await_auctions(&self) -> Option<String> {
        for cloud in &self.clouds {
            cloud.local.kill("record-auctions").await.unwrap();
        }
        self.await_ticks(&["record-auctions"], Duration::from_mins(5)).await
    }

    /// Waits until each of these recorders has recorded a tick from now on, with one due after `step`, and returns one that does
    /// not. On a busy machine, a run can take longer than its timeout. The next one makes up for it.
    async fn await_ticks(&self, recorders: &[&str], step: Duration) -> Option<String> {
        let since = self.clock.now_ms() / 1_000;
        let mut missing = None;
        for _ in 0..MOST_TICKS {
            self.clock.advance(step);
            missing = self.await_each(recorders, since).await;
            missing.as_ref()?;
        }
        missing
    }

    /// Waits until each of these recorders has recorded a tick after this time in Unix seconds, and returns one that does not: one
    /// that has failed, found nothing to record or built what was left of before, records only its next tick.
    async fn await_each(&self, recorders: &[&str], since: i64) -> Option<String> {
        let started = Instant::now();
        loop {
            let (cloud, recorder) = self
                .clouds
                .iter()
                .find_map(|cloud| Some((cloud, cloud.unrecorded_since(recorders, since)?)))?;
            let has_failed = cloud.journal.has_failed(recorder, |failure| failure.logged.real >= started);
            let has_ended = cloud.journal.has_ended(recorder, started);
            if has_failed || has_ended || started.elapsed() > TICK_PATIENCE {
                return Some(cloud.describe_missing(recorder));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Stops the clouds.
    async fn end(self) -> Summary {
        let mut summary = self.summary.into_inner().unwrap();
        for cloud in self.clouds {
            summary.add_counts(&cloud.journal.counts());
            for failure in cloud.journal.unexplained() {
                summary.add_wrong(failure);
            }
            for line in cloud.local.logs() {
                if line.contains("panicked") {
                    summary.add_wrong(line);
                }
            }
            cloud.local.shutdown().await;
        }
        summary
    }
}
