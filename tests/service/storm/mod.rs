//! In a storm, clients request every route while the upstream, DynamoDB and the functions' hosts fail at
//! random, events come late or twice, and the clock jumps. Every response is right or an honest error, and in
//! the end every recorded minute of the bazaar is served.
//!
//! `STORM_SECONDS` sets the length. `STORM_SEED` repeats a storm, apart from effects of concurrency. With an
//! odd seed, the cloud has a stage cache. Each storm prints its seed and a summary.

mod cloud;
mod history;
mod journal;
mod query;
mod snapshot;
mod source;
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
use simulator::{Clock, election, fire_sales};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use self::cloud::{Caller, Exchange, StormCloud};
use self::query::{Kind, Query};
use self::summary::Summary;
use self::upstream::Weather;
use self::verdict::ResponseCheck;
use crate::history::{MINUTE, event};
use crate::support::{RECORDERS, invoke};

/// The default length of a storm.
const USUAL_SECONDS: u64 = 15;

const CLIENTS: u64 = 6;

/// The storm ends early after this many wrong responses.
const ENOUGH: usize = 5;

/// The most attempts of a recorder or a route after the storm. On a busy machine, a cold start can take too
/// long.
const MOST_TRIES: u32 = 10;

/// Within this time, a run of `record-candles` builds the current interval: the interval ends, is complete
/// two minutes later, and runs are five minutes apart.
const NEXT_CANDLES: Duration = Duration::from_mins(8);

/// The storm starts this long before an election closes, so the election closes during the storm.
const BEFORE_ELECTION_MS: i64 = 25 * 60_000;

/// The state that the clients share.
struct Storm {
    clock: Clock,
    cloud: StormCloud,
    /// Clients hold this lock while they wait for a response, so the clock does not jump meanwhile.
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
    let clock = Clock::system();
    clock.set(start_ms(seed));
    let storm = Arc::new(Storm {
        cloud: StormCloud::start(seed, clock.clone()).await,
        clock,
        gate: RwLock::default(),
        over: AtomicBool::new(false),
        summary: Mutex::default(),
    });
    storm.rage(Duration::from_secs(seconds)).await;
    storm.calm_down().await;
    let storm = Arc::into_inner(storm).unwrap();
    let summary = storm.end().await;
    print(&format!("{summary:#?}"));
    summary.expect_good(seed);
}

/// Prints a line, even if the test passes.
#[expect(clippy::explicit_write, reason = "the test harness captures what macros print")]
fn print(text: &str) {
    writeln!(std::io::stderr(), "{text}").unwrap();
}

/// A time shortly before the end of a mayor's term, with fire sales, in Unix milliseconds.
fn start_ms(seed: u64) -> i64 {
    let ends = (520_i64..).map(election::closes_at);
    let mut starts = ends.map(|end| end - BEFORE_ELECTION_MS);
    starts.find(|start| fire_sales::body(seed, *start).contains("item_id")).unwrap()
}

impl Storm {
    /// Lets clients send requests for this long, in rounds. Each round has its own faults, and the clock
    /// jumps after it.
    async fn rage(self: &Arc<Self>, length: Duration) {
        let end = Instant::now() + length;
        let mut rng = Rng::with_seed(self.cloud.seed);
        let mut clients = JoinSet::new();
        let closed = Arc::clone(self);
        let mut closed = Some(closed.gate.write().await);
        for number in 0..CLIENTS {
            clients.spawn(Arc::clone(self).client(number));
        }
        let mut round = 0;
        while Instant::now() < end && self.summary.lock().unwrap().wrong.len() < ENOUGH {
            round += 1;
            // In a round with hanging requests, all clients wait for the slowest response, so such rounds are
            // rare.
            let is_hanging = round == 4 || rng.u32(..12) == 0;
            self.cloud.set_weather(&mut rng, is_hanging);
            drop(closed.take());
            let length = if is_hanging { 4_000..6_000 } else { 900..2_400 };
            let round_end = (Instant::now() + Duration::from_millis(rng.u64(length))).min(end);
            while Instant::now() < round_end {
                tokio::time::sleep(Duration::from_millis(rng.u64(40..400))).await;
                self.cloud.kill_one(&mut rng).await;
                if !is_hanging && rng.u32(..4) == 0 {
                    clients.spawn(Arc::clone(self).send_event_again(rng.fork()));
                }
            }
            closed = Some(self.gate.write().await);
            self.cloud.local.dynamodb().clear_faults();
            self.cloud.journal.prune();
            self.clock.advance(weather::jump(&mut rng));
        }
        self.over.store(true, Ordering::Relaxed);
        drop(closed);
        while let Some(ended) = clients.join_next().await {
            ended.unwrap();
        }
    }

    /// Sends a recorder an event that its schedule also sends, twice at once. Events of auctions are up to
    /// two minutes late: the storm checks that prices of the bazaar are of their minute.
    async fn send_event_again(self: Arc<Self>, mut rng: Rng) {
        let recorder = *rng.choice(&RECORDERS).unwrap();
        let late = if recorder == "record-auctions" { rng.i64(0..=2) } else { 0 };
        let event = event(self.clock.now_ms() / 1_000 - late * MINUTE);
        let cloud = &self.cloud;
        cloud.journal.count(if late > 0 { "an event comes late and twice" } else { "an event comes twice" });
        let send = || invoke(&cloud.local, recorder, event.clone());
        tokio::join!(send(), send());
    }

    async fn client(self: Arc<Self>, number: u64) {
        let mut rng = Rng::with_seed(self.cloud.seed ^ (number + 1) << 32);
        while !self.over.load(Ordering::Relaxed) {
            let query = Query::any(&mut rng);
            let caller = match rng.u32(..50) {
                0 => Caller::Lapsed,
                1 => Caller::Revoked,
                2 => Caller::WithoutKey,
                3..11 => Caller::Starter,
                _ => Caller::Pro,
            };
            let under_way = self.gate.read().await;
            let exchange = self.cloud.exchange(query, caller).await;
            drop(under_way);
            let storm = Arc::clone(&self);
            tokio::task::spawn_blocking(move || storm.judge(exchange)).await.unwrap();
        }
    }

    /// Judges a response, and adds the verdict to the summary.
    fn judge(&self, exchange: Result<Exchange, String>) {
        let StormCloud { journal, has_stage_cache, seed, .. } = &self.cloud;
        let check = ResponseCheck { journal, has_stage_cache: *has_stage_cache, seed: *seed };
        let verdict = exchange.and_then(|exchange| {
            let verdict = check.verdict(&exchange).map_err(|reason| {
                let Exchange { query, caller, response, received, .. } = &exchange;
                let time = Timestamp::from_millisecond(received.cloud_ms).unwrap();
                format!("{} at {time} for {caller:?}, {}: {reason}", query.path, response.status)
            })?;
            Ok((verdict, exchange))
        });
        let mut summary = self.summary.lock().unwrap();
        match verdict {
            Ok((verdict, exchange)) => summary.add(verdict, &exchange),
            Err(reason) => summary.wrong.push(reason),
        }
    }

    /// Ends all faults. Then every recorder must record, every route must respond, and every recorded minute
    /// must be served.
    async fn calm_down(&self) {
        self.cloud.upstream.set(Weather::CALM);
        self.cloud.local.dynamodb().clear_faults();
        // From now on, recorders run only when the clock advances.
        self.clock.stop();
        // Hanging events, and functions that wait because of a 429, would take a minute to end.
        self.cloud.kill_all().await;
        let mut result = Ok(());
        for _ in 0..2 {
            self.clock.advance(NEXT_CANDLES);
            result = result.and(self.record().await);
        }
        for query in Query::of_every_route(&mut Rng::with_seed(self.cloud.seed)) {
            if query.kind != Kind::Invalid {
                result = result.and(self.expect_success(&query).await);
            }
        }
        self.cloud.kill_all().await;
        let checked = self.cloud.expect_recorded().await;
        let mut summary = self.summary.lock().unwrap();
        match result.and(checked) {
            Ok(points) => summary.points = points,
            Err(reason) => summary.wrong.push(format!("after the storm: {reason}")),
        }
    }

    /// Sends every recorder the event of the previous minute. No schedule sends that event again.
    async fn record(&self) -> Result<(), String> {
        let event = event(self.clock.now_ms() / 1_000 - MINUTE);
        for recorder in RECORDERS {
            let mut failure = None;
            for _ in 0..MOST_TRIES {
                let response = invoke(&self.cloud.local, recorder, event.clone()).await;
                failure = response.headers.contains_key("x-amz-function-error").then_some(response.text);
                if failure.is_none() {
                    break;
                }
            }
            if let Some(failure) = failure {
                return Err(format!("{recorder} cannot record: {failure}"));
            }
        }
        Ok(())
    }

    /// Repeats the request until the response is a 200 or a 404, at most [`MOST_TRIES`] times. A 404 can be
    /// right, because the game does not list every product at every time.
    async fn expect_success(&self, query: &Query) -> Result<(), String> {
        for _ in 0..MOST_TRIES {
            let exchange = self.cloud.exchange(query.clone(), Caller::Pro).await;
            let status = exchange.as_ref().map(|exchange| exchange.response.status.as_u16());
            let is_good = matches!(status, Ok(200 | 404));
            self.judge(exchange);
            if is_good {
                return Ok(());
            }
        }
        Err(format!("{} fails", query.path))
    }

    /// Stops the cloud, and returns the summary.
    async fn end(self) -> Summary {
        let mut summary = self.summary.into_inner().unwrap();
        let StormCloud { journal, local, .. } = self.cloud;
        summary.trouble.clone_from(&journal.entries().counts);
        summary.wrong.append(&mut journal.entries().unexplained);
        for line in local.logs() {
            if line.contains("panicked") {
                summary.wrong.push(line);
            }
        }
        local.shutdown().await;
        summary
    }
}
