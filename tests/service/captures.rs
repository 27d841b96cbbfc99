//! With the provider's real answers behind the service, its own are exactly what follows from them. The captures stand
//! beside the repository; without them there is nothing to compare with, and the tests say so.

use std::io::{self, Write as _};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::error::INTERNAL_MESSAGE;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::{Cloud, Options, Upstream};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::support::{
    Example, expect_clean_logs, for_every_live_route, get, live_examples, one_instance_each, send, start_with,
};

const BAZAAR: &str = "bazaar/v2-20260428T1503Z.json";
const OLD_BAZAAR: &str = "bazaar/v1-20210419T1337Z.json";

/// The provider's stand-in, which serves the captures. It ends when it is dropped.
struct Stage {
    process: Child,
    url: String,
}

impl Stage {
    /// The stand-in on a free port; `None`, and a line that says so, where there are no captures.
    async fn open() -> Option<Self> {
        let Some(folder) = captures::folder() else {
            // Past the test runner, which keeps to itself what a test that passes prints.
            io::stderr()
                .write_all(
                    b"nothing is compared with real captures: there is no ../shared/upstream/data
",
                )
                .unwrap();
            return None;
        };
        let script = folder.with_file_name("serve.py");
        let mut process = Command::new("python3")
            .arg(script)
            .args(["--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(Duration::from_secs(30), output.next_line()).await.unwrap();
        let line = line.unwrap().unwrap();
        let url = line.rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line}");
        Some(Self { process, url })
    }

    /// The service in front of it.
    async fn cloud(&self, options: Options) -> Cloud {
        start_with(Options { upstream: Upstream::Url(self.url.clone()), ..options }).await
    }

    async fn control(&self, rule: Value) {
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let uri = format!("{}/__control", self.url);
        let response =
            client.request(Request::put(uri).body(Full::from(rule.to_string())).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body().collect().await.unwrap();
    }

    async fn serve(&self, path: &str, capture: &str) {
        self.control(json!({"path": path, "file": capture})).await;
    }

    /// Takes all rules away and sets the counters to zero.
    async fn reset(&self) {
        assert_eq!(send(&self.url, Method::DELETE, "/__control").await.status, StatusCode::OK);
    }

    async fn requests(&self, path: &str) -> u64 {
        send(&self.url, Method::GET, "/__stats").await.json()[path].as_u64().unwrap_or(0)
    }

    async fn close(mut self) {
        self.process.kill().await.unwrap();
    }
}

/// The requests to every route, by players whom the captures know.
fn path_of(example: &Example) -> &'static str {
    if example.route.function == "profile" { "/v1/profile/newcomer" } else { example.path }
}

#[track_caller]
fn text(name: &str) -> String {
    captures::text(name).unwrap_or_else(|| panic!("there is no capture {name}"))
}

#[track_caller]
fn capture(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// Numbers are the same if their values are, whatever their spelling; everything else must be equal.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
        }
        _ => a == b,
    }
}

#[track_caller]
fn expect_same(answered: &Value, expected: &Value, what: &str) {
    if same(answered, expected) {
        return;
    }
    // Megabytes help nobody: the first field that differs.
    if let (Value::Object(answered), Value::Object(expected)) = (answered, expected) {
        assert_eq!(answered.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
        for (key, value) in expected {
            expect_same(&answered[key], value, &format!("{what}.{key}"));
        }
    }
    if let (Value::Array(answered), Value::Array(expected)) = (answered, expected) {
        assert_eq!(answered.len(), expected.len(), "{what}");
        for (position, (answered, expected)) in answered.iter().zip(expected).enumerate() {
            expect_same(answered, expected, &format!("{what}[{position}]"));
        }
    }
    panic!("{what} is {answered}, not {expected}");
}

/// The named fields of every row, in this order.
fn picked(rows: &Value, fields: &str) -> Value {
    let pick = |row: &Value| {
        fields.split(' ').map(|field| (field.to_owned(), row[field].clone())).collect::<Map<_, _>>()
    };
    rows.as_array().unwrap().iter().map(pick).collect()
}

fn price(product: &Value, side: &str) -> f64 {
    product["quick_status"][side].as_f64().unwrap()
}

fn spread_percent(product: &Value) -> f64 {
    let (sell, buy) = (price(product, "sellPrice"), price(product, "buyPrice"));
    if sell == 0.0 { 0.0 } else { (buy - sell) / sell * 100.0 }
}

fn processed(product: &Value) -> Value {
    let status = &product["quick_status"];
    json!({
        "id": product["product_id"],
        "sellPrice": status["sellPrice"],
        "buyPrice": status["buyPrice"],
        "sellVolume": status["sellVolume"],
        "buyVolume": status["buyVolume"],
        "spread": price(product, "buyPrice") - price(product, "sellPrice"),
        "spreadPercent": spread_percent(product),
        "sellMovingWeek": status["sellMovingWeek"],
        "buyMovingWeek": status["buyMovingWeek"],
    })
}

/// All flips of a capture, the best first.
fn flips(products: &Map<String, Value>) -> Vec<Value> {
    let volume = |product: &Value, side: &str| product["quick_status"][side].as_i64().unwrap();
    let mut good: Vec<&Value> = products
        .values()
        .filter(|product| price(product, "sellPrice") >= 50_000.0)
        .filter(|product| volume(product, "sellVolume") >= 10_000 && volume(product, "buyVolume") >= 10_000)
        .collect();
    good.sort_by(|a, b| {
        let by_spread = spread_percent(b).partial_cmp(&spread_percent(a)).unwrap();
        by_spread.then_with(|| a["product_id"].as_str().cmp(&b["product_id"].as_str()))
    });
    good.into_iter().map(processed).collect()
}

/// The number `field` of the product `id`, exactly as the capture spells it.
fn spelled<'a>(capture: &'a str, id: &str, field: &str) -> &'a str {
    let status = capture.find(&format!(r#""productId": "{id}""#)).unwrap();
    let (_, rest) = capture[status..].split_once(&format!("\"{field}\": ")).unwrap();
    rest.split([',', '}']).next().unwrap()
}

#[tokio::test]
async fn every_mode_of_the_bazaar_follows_from_the_real_products() {
    let Some(stage) = Stage::open().await else { return };
    for name in [BAZAAR, OLD_BAZAAR] {
        let cloud = stage.cloud(one_instance_each()).await;
        stage.serve("/v2/skyblock/bazaar", name).await;
        let (raw, body) = (text(name), capture(name));
        let products = body["products"].as_object().unwrap();

        let full = get(&cloud, "/v1/bazaar").await;
        let inner = raw.split_once(r#""products":"#).unwrap().1.trim_start();
        // The products are the last field in both captures.
        let inner = inner.trim_end().strip_suffix('}').unwrap().trim_end();
        let last_updated = &body["lastUpdated"];
        let whole = format!(
            r#"{{"success":true,"data":{{"lastUpdated":{last_updated},"products":{inner}}},"meta":{{"cached":false,"api_version":"v1"}}}}"#
        );
        assert!(full.text == whole, "mode=full of {name} is not byte-exact");
        full.data();

        let mut active: Vec<&str> = products
            .iter()
            .filter(|(_, product)| price(product, "sellPrice") > 0.0 && price(product, "buyPrice") > 0.0)
            .map(|(id, _)| id.as_str())
            .collect();
        active.sort_unstable();
        let items: Vec<_> = active.iter().map(|id| json!({"id": id})).collect();
        let expected = json!({"count": items.len(), "items": items});
        assert!(items.len() > 200);
        expect_same(&get(&cloud, "/v1/bazaar?mode=list").await.data(), &expected, name);

        let flips = flips(products);
        for (limit, count) in [("", 20), ("&limit=1", 1), ("&limit=7", 7), ("&limit=100", 100)] {
            let best = &flips[..count.min(flips.len())];
            let answered = get(&cloud, &format!("/v1/bazaar?mode=flips{limit}")).await.data();
            expect_same(&answered, &json!({"count": best.len(), "items": best}), limit);
        }
        stage.reset().await;
        expect_clean_logs(&cloud);
    }
    stage.close().await;
}

#[tokio::test]
async fn every_real_product_can_be_asked_for_and_its_prices_keep_every_digit() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;
    let (raw, body) = (text(BAZAAR), capture(BAZAAR));
    let products = body["products"].as_object().unwrap();
    let sample = products.keys().map(String::as_str).step_by(15);
    let awkward =
        ["INK_SACK:3", "LOG:2", "RAW_FISH:1", "X", "Y", "Z", "ENCHANTED_DIAMOND", "MOONGLADE_JEWEL"];
    let mut empty = 0;
    for id in sample.chain(awkward) {
        let product = products.get(id).unwrap_or_else(|| panic!("{id} is not in the capture"));
        for spelling in [id.to_owned(), id.replace(':', "%3A")] {
            let answered = get(&cloud, &format!("/v1/bazaar?mode=item&id={spelling}")).await.data();
            expect_same(&answered, &processed(product), id);
            for field in ["sellPrice", "buyPrice"] {
                let exact: f64 = spelled(&raw, id, field).parse().unwrap();
                let answered = answered[field].as_f64().unwrap();
                assert_eq!(answered.to_bits(), exact.to_bits(), "{field} of {id}: {answered} and {exact}");
            }
        }
        empty += u32::from(price(product, "sellPrice") == 0.0);
    }
    assert!(empty > 5, "a fifth of the products have nobody who buys");
    for unknown in ["", "x", "INK_SACK:", "INK_SACK:3%20", "ink_sack:3"] {
        let code = if unknown.is_empty() { "BAD_REQUEST" } else { "NOT_FOUND" };
        get(&cloud, &format!("/v1/bazaar?mode=item&id={unknown}")).await.error(code);
    }
    stage.close().await;
}

#[tokio::test]
async fn the_other_routes_follow_from_the_real_answers() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;

    let page = capture("auctions/v2-20250608T1707Z-page0.json");
    let mut expected = json!({});
    for field in ["page", "totalPages", "totalAuctions", "lastUpdated"] {
        expected[field] = page[field].clone();
    }
    let fields = "uuid auctioneer item_name item_lore starting_bid highest_bid_amount bin start end";
    expected["auctions"] = picked(&page["auctions"], fields);
    assert_eq!(expected["auctions"].as_array().unwrap().len(), 1_000);
    expect_same(&get(&cloud, "/v1/auctions").await.data(), &expected, "auctions");
    get(&cloud, "/v1/auctions?page=1").await.error("NOT_FOUND");

    let mut rows = capture("items/v2-20241015.json")["items"].take();
    let mut without_tier = 0;
    for row in rows.as_array_mut().unwrap() {
        if row.get("tier").is_none() {
            row["tier"] = "COMMON".into();
            without_tier += 1;
        }
    }
    assert_eq!(without_tier, 858);
    let expected = json!({"items": picked(&rows, "id name material tier")});
    expect_same(&get(&cloud, "/v1/items").await.data(), &expected, "items");

    let expected = json!({"collections": capture("collections/v2-20260804.json")["collections"]});
    expect_same(&get(&cloud, "/v1/collections").await.data(), &expected, "collections");
    expect_clean_logs(&cloud);
    stage.close().await;
}

#[tokio::test]
async fn the_mayor_follows_from_the_real_elections_with_an_open_booth_and_without() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;
    for (name, has_current) in [
        ("election/v2-20261010-nocurrent-minister.json", false),
        ("election/v2-20250312-current-minister.json", true),
    ] {
        stage.serve("/v2/resources/skyblock/election", name).await;
        let body = capture(name);
        assert_eq!(body.get("current").is_some(), has_current, "{name}");
        let mayor = &body["mayor"];
        let expected = json!({
            "mayor": {"name": mayor["name"], "key": mayor["key"], "perks": picked(&mayor["perks"], "name description")},
            "current": if has_current { body["current"].clone() } else { json!({}) },
            "election": mayor["election"],
        });
        expect_same(&get(&cloud, "/v1/mayor").await.data(), &expected, name);
        cloud.clock().advance(Duration::from_mins(5));
    }
    stage.close().await;
}

#[tokio::test]
async fn the_fire_sales_follow_from_the_real_ones_and_may_be_none() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;
    for (name, count) in
        [("firesales/1-empty-20260801.json", 0), ("firesales/2-active-20240831-two-sales.json", 2)]
    {
        stage.serve("/v2/skyblock/firesales", name).await;
        let expected = json!({"sales": picked(&capture(name)["sales"], "item_id start end amount price")});
        assert_eq!(expected["sales"].as_array().unwrap().len(), count);
        expect_same(&get(&cloud, "/v1/fire-sales").await.data(), &expected, name);
        cloud.clock().advance(Duration::from_mins(1));
    }
    stage.close().await;
}

#[tokio::test]
async fn a_profile_follows_from_the_real_players() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;
    let players = capture("mojang/players.json");
    assert_eq!(players.as_object().unwrap().len(), 3);
    for (name, player) in players.as_object().unwrap() {
        let body = capture(player["profiles"].as_str().unwrap());
        let profiles = body["profiles"].as_array().cloned().unwrap_or_default();
        let profiles: Vec<_> = profiles
            .iter()
            .map(|profile| {
                json!({
                    "profile_id": profile["profile_id"],
                    "cute_name": profile["cute_name"],
                    "selected": profile.get("selected").cloned().unwrap_or(false.into()),
                    "members": profile["members"],
                })
            })
            .collect();
        assert_eq!(profiles.is_empty(), name == "neverplayed", "{name}");
        let expected = json!({"uuid": player["id"], "username": player["name"], "profiles": profiles});
        for spelling in [name.clone(), name.to_uppercase()] {
            let answered = get(&cloud, &format!("/v1/profile/{spelling}")).await;
            expect_same(&answered.data(), &expected, &spelling);
        }
    }
    get(&cloud, "/v1/profile/Nobody").await.error("NOT_FOUND");
    expect_clean_logs(&cloud);
    stage.close().await;
}

#[tokio::test]
async fn the_same_request_twice_is_one_request_to_the_provider() {
    let Some(stage) = Stage::open().await else { return };
    let cloud = stage.cloud(one_instance_each()).await;
    for example in live_examples() {
        let path = path_of(&example);
        let (first, second) = (get(&cloud, path).await, get(&cloud, path).await);
        assert!(!first.cached(), "{path}");
        second.expect_replay_of(&first);
        for upstream in example.upstream {
            let upstream = upstream.replace("Notch", "newcomer");
            assert_eq!(stage.requests(&upstream).await, 1, "{upstream}");
        }
    }
    stage.close().await;
}

#[tokio::test]
async fn every_fault_that_the_stand_in_can_produce_gives_the_documented_answer_in_time() {
    let quick = [
        json!({"status": 500}),
        json!({"status": 502, "body": "<html>502 Bad Gateway</html>"}),
        json!({"status": 503, "body": r#"{"success":false,"cause":"Leaderboard data has not yet been populated"}"#}),
        json!({"status": 403, "body": r#"{"success":false,"cause":"Invalid API key"}"#}),
        json!({"status": 429, "body": r#"{"success":false,"cause":"Key throttle","throttle":true}"#}),
        json!({"status": 404, "body": "<html>"}),
        json!({"body": "<html>hello</html>"}),
        json!({"body": "{}"}),
        json!({"body": r#"{"success":false,"cause":"This endpoint is currently disabled"}"#}),
        json!({"truncate": 0}),
        json!({"truncate": 20}),
    ];
    let (late, never) = ([json!({"delay_ms": 9_500})], [json!({"hang": true})]);
    tokio::join!(expect_failures(&quick), expect_failures(&late), expect_failures(&never));
}

/// That every route fails as documented when its upstreams fail in these ways, one after the other.
async fn expect_failures(faults: &[Value]) {
    let Some(stage) = Stage::open().await else { return };
    // Two instances: a profile can fail because of its name or by itself.
    let concurrency = NonZeroU16::MIN.saturating_add(1);
    let cloud = Arc::new(stage.cloud(Options { concurrency, ..Options::for_tests() }).await);
    for fault in faults {
        for upstream in live_examples().flat_map(|example| example.upstream) {
            let mut rule = fault.clone();
            rule["path"] = upstream.replace("Notch", "newcomer").into();
            stage.control(rule).await;
        }
        let what = fault.to_string();
        tokio::join!(
            for_every_live_route(&cloud, |cloud, example| fails_in_time(
                cloud,
                path_of(&example),
                what.clone()
            )),
            fails_in_time(Arc::clone(&cloud), "/v1/profile/co_op_farmer", what.clone()),
        );
    }
    stage.reset().await;
    for example in live_examples() {
        assert!(!get(&cloud, path_of(&example)).await.cached(), "{} is well again", example.path);
    }
    expect_clean_logs(&cloud);
    stage.close().await;
}

/// That the answer is the 500 envelope, within the contract's ten seconds.
async fn fails_in_time(cloud: Arc<Cloud>, path: &'static str, what: String) {
    let start = Instant::now();
    let answered = get(&cloud, path).await;
    assert_eq!(answered.error("INTERNAL_ERROR"), INTERNAL_MESSAGE, "{path}: {what}");
    let took = start.elapsed();
    assert!(took < Duration::from_secs(10), "{path}: {what}: {took:?}");
}

/// The folder is where the README says, or nowhere: a typing error here would compare nothing for ever.
#[test]
fn captures_are_looked_for_beside_the_repository() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = repository.join("../shared/upstream/data");
    assert_eq!(captures::folder().is_some(), folder.is_dir());
    assert_eq!(captures::text(BAZAAR).is_some(), folder.join(BAZAAR).is_file());
}
