//! Each sale of a list of ended auctions that was read counts once, whatever happens to the runs: events are
//! late or come twice, the provider fails, instances are killed, and DynamoDB refuses writes.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::config::Config;
use common::invocation::Invocation;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use fastrand::Rng;
use futures_util::future::join_all;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use local::{Cloud, Fault as TableFault, Refusal};
use record_auctions::RecordAuctions;
use recorder::Recorder;
use serde_json::{Value, json};
use tables::auctions::{lists, recorded_minutes};
use tables::{Table, Ticks};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::house::{ENDED, RECORDER, item_bytes, listing, serve, table};
use crate::candles::build;
use crate::history::{HOUR, MINUTE, START, event, failure, record, rfc3339, start};
use crate::support::{cargo, get_at, invoke};

const BUILDER: &str = "record-candles";
const IDS: [&str; 3] = ["ASPECT_OF_THE_END", "HYPERION", "TERMINATOR"];

/// The worlds, which run at the same time. Each has the minutes around the end of another hour.
const WORLDS: i64 = 40;
const MINUTES: i64 = 4;

/// The age of the oldest sales in a list, in milliseconds.
const LISTED_MS: i64 = 62_000;
const MINUTE_MS: i64 = MINUTE * 1_000;
/// A run whose fetch ends at most 100 s after the minute of its event records that minute. A response takes
/// less than ten seconds.
const OWN_MINUTE_MS: i64 = 90_000;
/// How late an event can be, in milliseconds.
const LATEST_MS: i64 = 120_000;

/// A sale: its auction, item, time in Unix milliseconds, and price.
type Sold = (u64, &'static str, i64, u64);

/// A provider's history.
struct World {
    start_ms: i64,
    /// The time from a full minute to the refresh of the list.
    list_phase_ms: i64,
    /// When the provider fails.
    outage_ms: Range<i64>,
    sales: Vec<Sold>,
}

impl World {
    fn random(random: &mut Rng, number: i64, start_ms: i64) -> Self {
        let end_ms = start_ms + MINUTES * MINUTE_MS;
        let list_phase_ms = random.i64(0..MINUTE_MS);
        let outage = random.i64(start_ms..end_ms);
        let sales = (0..MINUTES * 4).map(|sale| {
            let auction = (number * 1_000 + sale).unsigned_abs();
            let item = IDS[random.usize(..IDS.len())];
            (auction, item, random.i64(start_ms..end_ms), random.u64(1..1_000_000))
        });
        Self { start_ms, list_phase_ms, outage_ms: outage..outage + 30_000, sales: sales.collect() }
    }

    fn list(&self, refresh_ms: i64) -> impl Iterator<Item = &Sold> {
        let listed = refresh_ms - LISTED_MS..refresh_ms;
        self.sales.iter().filter(move |(_, _, time, _)| listed.contains(time))
    }

    /// The refresh of the list that the provider shows at this time.
    fn refresh(&self, now_ms: i64) -> i64 {
        now_ms - (now_ms - self.list_phase_ms).rem_euclid(MINUTE_MS)
    }

    fn respond(&self, is_list: bool, now_ms: i64) -> Value {
        if is_list {
            let refresh = self.refresh(now_ms);
            let row = |(auction, item, time, price): &Sold| {
                json!({
                    "auction_id": format!("{auction:032x}"), "timestamp": time, "price": price, "bin": true,
                    "item_bytes": item_bytes(item),
                })
            };
            let rows: Vec<_> = self.list(refresh).map(row).collect();
            return json!({"success": true, "lastUpdated": refresh, "auctions": rows});
        }
        let refresh = now_ms - now_ms.rem_euclid(MINUTE_MS);
        json!({
            "success": true, "page": 0, "totalPages": 1, "totalAuctions": 1, "lastUpdated": refresh,
            "auctions": [listing(999_999, "HYPERION", 5, refresh)],
        })
    }
}

/// The provider, as it responds to one instance of the recorder.
struct Provider {
    world: Arc<World>,
    run: Mutex<Run>,
    sent: Notify,
}

/// What the provider has sent in the current run.
struct Run {
    /// The time at which the run began: on the world's clock in Unix milliseconds, and on the system's.
    began: (i64, Instant),
    lists: Vec<i64>,
    /// When the first page was sent.
    page_ms: Option<i64>,
}

impl Run {
    fn new(now_ms: i64) -> Self {
        Self { began: (now_ms, Instant::now()), lists: Vec::new(), page_ms: None }
    }
}

impl Provider {
    fn respond(&self, path: &str) -> (u16, String) {
        let mut run = self.run.lock().unwrap();
        let (began_ms, began) = run.began;
        let now_ms = began_ms + i64::try_from(began.elapsed().as_millis()).unwrap();
        if self.world.outage_ms.contains(&now_ms) {
            return (503, String::new());
        }
        let is_list = path == ENDED;
        if is_list {
            run.lists.push(self.world.refresh(now_ms));
            self.sent.notify_one();
        } else {
            run.page_ms = Some(now_ms);
        }
        (200, self.world.respond(is_list, now_ms).to_string())
    }

    /// Returns the address of a new server.
    async fn serve(self: Arc<Self>) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let provider = Arc::clone(&self);
                let service = service_fn(move |request: Request<Incoming>| {
                    let (status, body) = provider.respond(request.uri().path());
                    let response = Response::builder().status(status).body(Full::<Bytes>::from(body));
                    async move { Ok::<_, Infallible>(response.unwrap()) }
                });
                tokio::spawn(Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        format!("http://{address}")
    }
}

struct Instance {
    recorder: RecordAuctions,
    provider: Arc<Provider>,
    /// Until when its run takes, on the world's clock.
    busy_until_ms: i64,
}

impl Instance {
    async fn start(world: &Arc<World>) -> Self {
        let (run, sent) = (Mutex::new(Run::new(0)), Notify::new());
        let provider = Arc::new(Provider { world: Arc::clone(world), run, sent });
        let url = Arc::clone(&provider).serve().await;
        let config = Config::from_lookup(move |name| match name {
            "HYPIXEL_BASE_URL" => Some(url.clone()),
            // These runs write no running auctions.
            "LISTINGS" => Some(format!("file://{}", std::env::temp_dir().display())),
            _ => None,
        });
        let recorder = RecordAuctions::new(&config).ok().unwrap();
        Self { recorder, provider, busy_until_ms: i64::MIN }
    }
}

#[derive(Debug, Clone, Copy)]
struct Event {
    minute_ms: i64,
    arrives_ms: i64,
    /// If set, the instance is killed this long after it was sent a list.
    kill_after: Option<Duration>,
}

/// What the runs of a world must leave.
#[derive(Default)]
struct Journal {
    /// The refreshes of the lists that were sent to runs that ended, and to killed ones.
    read: BTreeSet<i64>,
    sent_to_killed: BTreeSet<i64>,
    /// The minutes whose run has fetched in time, in Unix seconds.
    fetched: BTreeSet<i64>,
    /// What became of the runs of each minute, in Unix seconds.
    runs: BTreeMap<i64, Vec<String>>,
    killed: usize,
}

/// Sends the event to an instance. Returns the instance unless it was killed.
async fn run(
    table: &Table,
    mut instance: Instance,
    event: Event,
    journal: &Mutex<Journal>,
) -> Option<Instance> {
    let Event { minute_ms, arrives_ms, kill_after } = event;
    let time = UnixMilliseconds::new;
    let provider = &instance.provider;
    let before = Run::new(arrives_ms);
    *provider.run.lock().unwrap() = before;
    let invocation = Invocation::new(time(arrives_ms), Instant::now() + Duration::from_secs(50));
    let session = table.with_timeout(Duration::from_secs(10));
    let ticks = Ticks::OfClock(Tick::of(time(minute_ms)));
    let record = instance.recorder.record(session, ticks, &invocation);
    let kill = async {
        match kill_after {
            Some(delay) => {
                provider.sent.notified().await;
                tokio::time::sleep(delay).await;
            }
            None => std::future::pending().await,
        }
    };
    let recorded = tokio::select! {
        recorded = record => Some(recorded),
        () = kill => None,
    };
    let Run { began, lists, page_ms } = std::mem::replace(&mut *provider.run.lock().unwrap(), Run::new(0));
    let mut journal = journal.lock().unwrap();
    let minute = minute_ms / 1_000;
    let mut note = |run: String| journal.runs.entry(minute).or_default().push(run);
    let Some(recorded) = recorded else {
        note("killed".to_owned());
        journal.sent_to_killed.extend(lists);
        journal.killed += 1;
        return None;
    };
    match (recorded, page_ms) {
        (Ok(_), Some(page_ms)) => {
            note(format!("fetched after {} s", (page_ms - minute_ms) / 1_000));
            if page_ms <= minute_ms + OWN_MINUTE_MS {
                journal.fetched.insert(minute);
            }
        }
        (Ok(_), None) => note("already recorded".to_owned()),
        (Err(error), _) => note(error.to_string()),
    }
    journal.read.extend(lists);
    instance.busy_until_ms = arrives_ms + i64::try_from(began.1.elapsed().as_millis()).unwrap();
    Some(instance)
}

/// Runs a world's events, in the order in which they arrive.
async fn run_all(table: &Table, world: Arc<World>, mut random: Rng) -> Journal {
    let phase_ms = random.i64(0..MINUTE_MS);
    let mut events = Vec::new();
    for minute in 0..MINUTES {
        let minute_ms = world.start_ms + minute * MINUTE_MS;
        let late_ms = if random.u8(..4) == 0 { random.i64(0..LATEST_MS) } else { random.i64(0..2_000) };
        let arrives_ms = minute_ms + (phase_ms + late_ms).min(LATEST_MS);
        for _ in 0..if random.u8(..6) == 0 { 2 } else { 1 } {
            let kill_after = (random.u8(..8) == 0)
                .then(|| Duration::from_micros(random.u64(..20_000).saturating_sub(2_000)));
            events.push(Event { minute_ms, arrives_ms, kill_after });
        }
    }
    events.sort_by_key(|event| event.arrives_ms);
    let journal = Mutex::new(Journal::default());
    let mut instances: Vec<Instance> = Vec::new();
    for at_once in events.chunk_by(|one, other| one.arrives_ms == other.arrives_ms) {
        let mut runs = Vec::new();
        for event in at_once {
            let position = instances.iter().position(|instance| instance.busy_until_ms <= event.arrives_ms);
            let instance = match position {
                Some(position) => instances.remove(position),
                None => Instance::start(&world).await,
            };
            runs.push(run(table, instance, *event, &journal));
        }
        instances.extend(join_all(runs).await.into_iter().flatten());
    }
    journal.into_inner().unwrap()
}

/// Requests all sales of the item before a time in Unix seconds: the time and the price of each.
async fn served_sales(cloud: &Cloud, id: &str, now: i64) -> Vec<(i64, u64)> {
    let mut sales = Vec::new();
    let mut path = format!("/v1/auctions/sales?id={id}&limit=500");
    loop {
        let data = get_at(cloud, &path, now * 1_000).await.data();
        sales.extend(data["sales"].as_array().unwrap().iter().map(|sale| {
            let sold_at: Timestamp = sale["sold_at"].as_str().unwrap().parse().unwrap();
            (sold_at.as_millisecond(), whole(&sale["price"]))
        }));
        let Some(before) = data["next_before"].as_str() else { break };
        path = format!("/v1/auctions/sales?id={id}&limit=500&before={before}");
    }
    sales.sort_unstable();
    sales
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are whole and small")]
fn whole(number: &Value) -> u64 {
    number.as_f64().unwrap() as u64
}

/// The sum of this field of the item's candles of hours.
async fn served_candles(cloud: &Cloud, id: &str, now: i64) -> u64 {
    let path = format!("/v1/auctions/candles?id={id}&interval=1h");
    let data = get_at(cloud, &path, now * 1_000).await.data();
    data["candles"].as_array().unwrap().iter().map(|candle| whole(&candle["sales"])).sum()
}

/// The exported sales of each item: the time and the price of each.
async fn exported_sales(cloud: &Cloud) -> BTreeMap<String, Vec<(i64, u64)>> {
    let mut command = cargo("admin", &["history", "export", "auctions", "-"]);
    command.env("AWS_ENDPOINT_URL_DYNAMODB", cloud.dynamodb().url());
    let output = command.output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut sales = BTreeMap::<_, Vec<_>>::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let opened_at: Timestamp = line["opened_at"].as_str().unwrap().parse().unwrap();
        for (id, text) in line["sales"]["items"].as_object().into_iter().flatten() {
            for sale in text.as_str().unwrap().split(';') {
                let mut numbers = sale.split(',').map(|number| number.parse::<i64>().unwrap());
                let time_ms = opened_at.as_millisecond() + numbers.next().unwrap();
                let price = numbers.next().unwrap().unsigned_abs();
                sales.entry(id.clone()).or_default().push((time_ms, price));
            }
        }
    }
    for sales in sales.values_mut() {
        sales.sort_unstable();
    }
    sales
}

/// Runs `record-candles` until nothing is left to build.
async fn build_all(cloud: &Cloud, now: i64) {
    for _ in 0..20 {
        let built = invoke(cloud, BUILDER, event(now)).await.json();
        if built["recorded"]["slots"] == json!([]) && built["recorded"]["auctions"] == json!([]) {
            return;
        }
    }
    panic!("candles are still left to build");
}

#[tokio::test]
async fn every_list_that_was_read_is_served_once_whatever_happens_to_the_runs() {
    let cloud = start().await;
    let random = &mut Rng::with_seed(2_026);
    let now = Timestamp::now().as_second();
    let first = now - now.rem_euclid(HOUR) - (WORLDS + 2) * HOUR;
    let worlds: Vec<_> = (0..WORLDS)
        .map(|number| {
            // The hour ends in the middle of the minutes.
            let start = first + (number + 1) * HOUR - MINUTES / 2 * MINUTE;
            Arc::new(World::random(random, number, start * 1_000))
        })
        .collect();
    let table = table(&cloud);
    let runs = worlds.iter().map(|world| run_all(&table, Arc::clone(world), random.fork()));
    let journals = join_all(runs).await;

    let session = table.with_timeout(Duration::from_secs(10));
    let [from, end] = [first, now].map(UnixSeconds::new);
    let lists = lists(session, from, end).await.unwrap();
    let written: BTreeSet<_> = lists.iter().map(|list| list.until.get()).collect();
    assert_eq!(written.len(), lists.len());
    let recorded = recorded_minutes(session, from, end).await.unwrap();
    let recorded: BTreeSet<_> = recorded.iter().map(|minute| minute.slot.get()).collect();
    let mut lost = 0;
    let mut killed = 0;
    for Journal { read, sent_to_killed, fetched, runs, killed: instances } in &journals {
        let missing: Vec<_> = read.difference(&written).collect();
        assert!(missing.is_empty(), "a list is missing: {missing:?}");
        lost += sent_to_killed.difference(&written).count();
        killed += instances;
        for (minute, runs) in runs.iter().filter(|(minute, _)| !recorded.contains(minute)) {
            assert!(!fetched.contains(minute), "{} is empty: {runs:?}", rfc3339(*minute));
            println!("{} is empty: {runs:?}", rfc3339(*minute));
        }
    }
    println!(
        "{killed} instances were killed; {lost} lists were lost with them, {} were written",
        written.len()
    );

    build_all(&cloud, now).await;
    let mut expected = BTreeMap::<_, BTreeSet<_>>::new();
    for until in &written {
        for (auction, item, time_ms, price) in worlds.iter().flat_map(|world| world.list(*until)) {
            expected.entry((*item).to_owned()).or_default().insert((*auction, *time_ms, *price));
        }
    }
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(id, sales)| {
            let mut sales: Vec<_> = sales.into_iter().map(|(_, time_ms, price)| (time_ms, price)).collect();
            sales.sort_unstable();
            (id, sales)
        })
        .collect();
    assert_eq!(exported_sales(&cloud).await, expected);
    for (id, sales) in &expected {
        assert_eq!(served_sales(&cloud, id, now).await, *sales, "{id}");
        let count = sales.len() as u64;
        assert_eq!(served_candles(&cloud, id, now).await, count, "{id}");
        let path = format!("/v1/auctions/averages?window=3d&ids={id}");
        let averages = get_at(&cloud, &path, now * 1_000).await.data();
        assert_eq!(whole(&averages["items"][0]["sales"]), count, "{id}");
    }
}

#[tokio::test]
async fn a_list_that_is_written_after_its_hour_was_built_builds_the_hour_again() {
    let cloud = start().await;
    for minute in -10..=8 {
        let time = START + minute * MINUTE;
        let time_ms = time * 1_000;
        let sale = json!({
            "auction_id": format!("{:032x}", minute + 10), "timestamp": time_ms - 5_000, "price": 100 + minute,
            "bin": true, "item_bytes": item_bytes("HYPERION"),
        });
        serve(&cloud, time_ms, &[listing(100, "HYPERION", 5, time_ms)], &json!([sale]));
        if (-3..8).contains(&minute) {
            let refused = TableFault::refusal(Refusal::InternalServerError).on("PutItem");
            cloud.dynamodb().set_fault(refused);
            failure(&cloud, RECORDER, event(time)).await;
            cloud.dynamodb().clear_faults();
        } else {
            record(&cloud, RECORDER, time).await;
        }
        if minute >= 7 {
            build(&cloud, time).await;
            // The function has cached the sales before.
            cloud.kill("auctions-sales").await.unwrap();
            let sales = served_sales(&cloud, "HYPERION", time).await;
            // The sales of the hour are in the lists of its minutes after the first one, and of the minute
            // after it.
            assert_eq!(sales.len(), if minute == 7 { 7 } else { 11 }, "{sales:?}");
        }
    }
}
