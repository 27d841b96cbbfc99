//! The model counts what the local cloud counts, under the same requests. How long things take is the machine's and an input.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::{Cloud, Options};
use scale::{Arrival, Deployment, KINDS, Kind, Outcome, Plan, Questions, Schedule, Waits, simulate};
use serde_json::Value;
use simulator::{Fault, Simulator};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// How far a count may be from the mean of the model, as a share of that. A count n below 16 may be as far as its spread, √n.
const TOLERANCE: f64 = 0.25;
/// Which of two instances ends first decides who gets the next request, so a millisecond can change what is fetched. The local cloud
/// runs once; the model runs this often, with the same requests and other waits.
const SIMULATIONS: u32 = 50;

const REQUESTS_PER_S: f64 = 20.0;
const SECONDS: f64 = 25.0;
const SEED: u64 = 7;
/// Takes so long that the speed of the machine matters less.
const PROVIDER: Duration = Duration::from_millis(300);

/// The path of a question.
type Path = fn(usize) -> String;
/// Some kinds of requests with their share in percent, how many different questions there are, and their paths.
const MIX: [(&str, f64, u32, Path); 9] = [
    ("bazaar item", 30.0, 10, |question| format!("/v1/bazaar?mode=item&id={}", product(question))),
    ("bazaar flips", 7.0, 5, |question| format!("/v1/bazaar?mode=flips&limit={}", question + 1)),
    ("bazaar list", 5.0, 1, |_| "/v1/bazaar?mode=list".to_owned()),
    ("bazaar full", 3.0, 1, |_| "/v1/bazaar".to_owned()),
    ("profile", 20.0, 6, |question| format!("/v1/profile/player{question}")),
    ("mayor", 12.0, 1, |_| "/v1/mayor".to_owned()),
    ("fire-sales", 8.0, 1, |_| "/v1/fire-sales".to_owned()),
    ("collections", 5.0, 1, |_| "/v1/collections".to_owned()),
    ("mayor-history", 10.0, 1, |_| "/v1/mayor/history".to_owned()),
];
/// What the functions fetch.
const FETCHED: [&str; 5] = [
    "/v2/skyblock/bazaar",
    "/v2/skyblock/firesales",
    "/v2/skyblock/profiles",
    "/v2/resources/skyblock/collections",
    "/v2/resources/skyblock/election",
];

fn product(index: usize) -> String {
    simulator::bazaar::quotes(1, 0).nth(index).unwrap().id.to_owned()
}

/// The kinds of the mix. Their processor time is 0, because the measured waits include it.
fn kinds() -> Vec<Kind> {
    let kind = |(name, percent, questions, _)| {
        let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
        Kind { percent, questions: Questions::Fixed(questions), processor_ms: [0.0; 3], ..*kind }
    };
    MIX.into_iter().map(kind).collect()
}

/// The counts that are compared.
#[derive(Debug)]
struct Counts {
    fetches: f64,
    invocations: f64,
    authorizations: f64,
    stage_cache_hits: f64,
    instances: f64,
}

impl Counts {
    fn of_model(outcome: &Outcome) -> Self {
        let authorizations = outcome.functions.get("authorizer").unwrap().invocations;
        Self {
            fetches: outcome.fetches(),
            invocations: outcome.invocations() - authorizations,
            authorizations,
            stage_cache_hits: outcome.stage_cache_hits,
            instances: outcome.cold_starts(),
        }
    }

    /// What differs by more than is tolerated.
    fn differences(&self, model: &Self) -> Vec<String> {
        let pairs = [
            ("fetches", self.fetches, model.fetches),
            ("invocations", self.invocations, model.invocations),
            ("authorizations", self.authorizations, model.authorizations),
            ("stage cache hits", self.stage_cache_hits, model.stage_cache_hits),
            ("instances", self.instances, model.instances),
        ];
        let differs = |(_, measured, modelled): &(_, f64, f64)| {
            (measured - modelled).abs() > (modelled * TOLERANCE).max(modelled.sqrt())
        };
        let pairs = pairs.into_iter().filter(differs);
        pairs
            .map(|(name, measured, modelled)| format!("{name}: {measured}, in the model {modelled}"))
            .collect()
    }
}

/// Waits until the provider has just refreshed the bazaar: in the model, it does so at the start.
async fn await_refresh(cloud: &Cloud) {
    let age_ms = || {
        let now_ms = cloud.clock().now_ms();
        now_ms - simulator::bazaar::refreshed_at(now_ms)
    };
    while age_ms() > 500 {
        sleep(Duration::from_millis(50)).await;
    }
}

/// Lets the simulator generate what the functions will fetch, and respond to them as slowly as the provider.
async fn prepare(simulator: &Simulator, client: &HttpClient) {
    for path in FETCHED {
        let _ = client.get(format!("{}{path}", simulator.url()).parse().unwrap()).await.unwrap();
    }
    simulator.reset();
    for path in FETCHED {
        simulator.set_fault(path, Fault::delay(PROVIDER));
    }
}

type HttpClient = Client<hyper_util::client::legacy::connect::HttpConnector, Empty<Bytes>>;

/// Sends the requests of the schedule to a cloud of its own. Returns what it counted, and how long functions waited.
async fn measure(stage_cache: bool) -> (Counts, Waits) {
    let access_log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&access_log);
    let cache = if stage_cache { "on" } else { "off" };
    let options = Options {
        parameters: [("GatewayCache".to_owned(), cache.to_owned())].into(),
        concurrency: NonZeroU16::new(32).unwrap(),
        access_log: Some(Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()))),
        ..Options::for_tests()
    };
    let cloud = Cloud::start(options).await.unwrap();
    let client: HttpClient = Client::builder(TokioExecutor::new()).build_http();
    let start = time_to_start(&cloud).await;
    prepare(cloud.simulator().unwrap(), &client).await;
    await_refresh(&cloud).await;

    send(&cloud, &client).await;
    sleep(Duration::from_millis(200)).await;
    let log: Vec<Value> = cloud.logs().iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let simulator = cloud.simulator().unwrap();
    let requests = |line: &&Value| line["status"].is_u64();
    let is_decision = |line: &&Value| line["function"] == "authorizer";
    let is_cold = |line: &&Value| line["cold_start"] == true;
    let counts = Counts {
        fetches: float(FETCHED.iter().map(|path| simulator.requests(path)).sum::<u64>()),
        invocations: count(log.iter().filter(requests)),
        authorizations: count(log.iter().filter(is_decision)),
        stage_cache_hits: count(access_log.lock().unwrap().iter().filter(|line| line.ends_with(" cache"))),
        instances: count(log.iter().filter(|line| requests(line) || is_decision(line)).filter(is_cold)),
    };
    let failed: Vec<_> = log.iter().filter(requests).filter(|line| line["status"] != 200).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let waits = waits(&log, start);
    cloud.shutdown().await;
    (counts, waits)
}

/// How long functions waited, processor time included.
fn waits(log: &[Value], start: f64) -> Waits {
    let durations = |route: &str| {
        let fetched = |line: &&Value| line["route"] == route && line["cached"] == false;
        log.iter().filter(fetched).filter_map(|line| line["duration_ms"].as_f64()).collect::<Vec<_>>()
    };
    let [bazaar, profile, table] =
        ["/v1/bazaar", "/v1/profile/{username}", "/v1/mayor/history"].map(durations);
    let provider = mean(&bazaar);
    let squares: Vec<_> = bazaar.iter().map(|duration| (duration - provider).powi(2)).collect();
    Waits {
        start,
        provider,
        // Less than nothing if a profile takes less time than the bazaar.
        names: mean(&profile) - provider,
        table: mean(&table),
        varies: (mean(&squares).sqrt() / provider).min(1.0),
        seed: 0,
    }
}

/// How long it takes to start a process of a function, in milliseconds.
async fn time_to_start(cloud: &Cloud) -> f64 {
    let mut times = [Duration::ZERO; 2];
    for time in &mut times {
        let start = Instant::now();
        // It refuses the event, and remains.
        let _ = cloud.invoke("status", "{}").await;
        *time = start.elapsed();
    }
    times[0].saturating_sub(times[1]).as_secs_f64() * 1_000.0
}

/// Sends each request of the schedule at its time, and waits for the responses.
async fn send(cloud: &Cloud, client: &HttpClient) {
    let keys = cloud.keys().unwrap();
    let keys = [&keys.starter, &keys.pro];
    let start = Instant::now();
    let mut requests = JoinSet::new();
    for Arrival { at, kind, question, key } in schedule() {
        let (.., path) = MIX.get(kind).unwrap();
        let path = path(question);
        let request = Request::get(format!("{}{path}", cloud.url()))
            .header("x-api-key", keys.get(key).unwrap().expose())
            .body(Empty::new())
            .unwrap();
        sleep_until(start + Duration::from_secs_f64(at)).await;
        let client = client.clone();
        requests.spawn(async move {
            let response = client.request(request).await.unwrap();
            assert!(response.status().is_success(), "{}: {path}", response.status());
            response.into_body().collect().await.unwrap();
        });
    }
    requests.join_all().await;
}

fn schedule() -> impl Iterator<Item = Arrival> {
    Schedule::new(SEED, REQUESTS_PER_S, 2, &kinds()).take_while(|arrival| arrival.at < SECONDS)
}

/// The model of the same cloud: the mean of its counts.
fn model(stage_cache: bool, waits: Waits) -> Counts {
    let kinds = kinds();
    let plan = Plan {
        kinds: &kinds,
        requests_per_s: REQUESTS_PER_S,
        keys: 2,
        waits,
        warm_up_s: 0.0,
        measured_s: SECONDS,
        seed: SEED,
    };
    let deployment = Deployment { stage_cache, key: [f64::MAX, f64::MAX], ..Deployment::default() };
    let run = |seed: u32| {
        let waits = Waits { seed: seed.into(), ..waits };
        Counts::of_model(&simulate(&Plan { waits, ..plan }, &deployment))
    };
    let all: Vec<Counts> = (0..SIMULATIONS).map(run).collect();
    let mean = |count: fn(&Counts) -> f64| all.iter().map(count).sum::<f64>() / f64::from(SIMULATIONS);
    Counts {
        fetches: mean(|counts| counts.fetches),
        invocations: mean(|counts| counts.invocations),
        authorizations: mean(|counts| counts.authorizations),
        stage_cache_hits: mean(|counts| counts.stage_cache_hits),
        instances: mean(|counts| counts.instances),
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / count(figures.iter())
}

fn count<T>(items: impl Iterator<Item = T>) -> f64 {
    float(items.count().try_into().unwrap())
}

fn float(count: u64) -> f64 {
    u32::try_from(count).unwrap().into()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_counts_what_the_local_cloud_counts() {
    for stage_cache in [false, true] {
        let (measured, waits) = measure(stage_cache).await;
        let modelled = model(stage_cache, waits);
        println!("stage cache: {stage_cache}, {waits:?}\nmeasured {measured:?}\nmodelled {modelled:?}");
        let differences = measured.differences(&modelled);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
