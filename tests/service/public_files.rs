//! The public files agree with the routes, never go back in time, and are always whole. The local cloud
//! serves them with the headers of S3 and `CloudFront`.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::read::GzDecoder;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::{Cloud, Options};
use serde_json::{Map, Value, json};
use simulator::Clock;

use crate::auction_prices::house::{listing, serve};
use crate::candles::build_all;
use crate::history::{DAY, HOUR, MINUTE, START, event, record, record_auctions, rfc3339};
use crate::support::{await_logs, get_at, invoke, one_instance_each, start_with};

const START_MS: i64 = START * 1_000;

/// The response to a request for a file.
pub(crate) struct File {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl File {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK);
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

async fn send(cloud: &Cloud, method: Method, path: &str, headers: &[(&str, &str)]) -> File {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let uri = format!("{}{path}", cloud.files_url().unwrap());
    let request =
        headers.iter().fold(Request::builder().method(method).uri(uri), |request, (name, value)| {
            request.header(*name, *value)
        });
    let response = client.request(request.body(Empty::new()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    File { status: head.status, headers: head.headers, body: bytes.to_vec() }
}

pub(crate) async fn get(cloud: &Cloud, path: &str) -> File {
    send(cloud, Method::GET, path, &[]).await
}

pub(crate) fn unpacked(gzip: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut content).unwrap();
    content
}

/// Options for a cloud with public files and a clock that is stopped at [`START`].
pub(crate) fn options() -> Options {
    let clock = Clock::system();
    clock.stop_at(START_MS);
    Options { public_files: true, clock, ..one_instance_each() }
}

async fn start() -> Cloud {
    start_with(options()).await
}

/// Returns `lastUpdated` of a route's data in the format of the times in `/prices.json`.
fn refreshed_at(document: &Value) -> String {
    rfc3339(document["lastUpdated"].as_i64().unwrap().div_euclid(1_000))
}

/// The rows of a market in `/prices.json`.
fn rows_of(prices: &Value, market: &str) -> Vec<Value> {
    let rows = prices["prices"].as_array().unwrap().iter();
    rows.filter(|row| row["market"] == market).cloned().collect()
}

#[tokio::test]
async fn files_of_a_minute_show_what_the_routes_respond() {
    let cloud = start().await;
    record_auctions(&cloud, START).await;
    record(&cloud, "record-bazaar", START).await;
    let auctions = get_at(&cloud, "/v1/auctions/prices", START_MS).await.data();
    let items = auctions["items"].as_array().unwrap();
    assert!(items.len() > 1_000, "{}", items.len());
    let lowest: Map<String, Value> =
        items.iter().map(|item| (item["id"].as_str().unwrap().to_owned(), item["lowest"].clone())).collect();
    let file = get(&cloud, "/lowestbin.json").await;
    assert_eq!(file.json(), Value::Object(lowest));
    let gzip = get(&cloud, "/lowestbin.json.gz").await;
    assert_eq!(unpacked(&gzip.body), file.body);
    assert_eq!((gzip.header("content-type"), gzip.header("content-encoding")), ("application/gzip", ""));

    let bazaar = get_at(&cloud, "/v1/bazaar?mode=prices", START_MS).await.data();
    assert_eq!(get(&cloud, "/bazaar.json").await.json(), bazaar);

    let prices = get(&cloud, "/prices.json").await.json();
    let times = json!({"auctions": refreshed_at(&auctions), "bazaar": refreshed_at(&bazaar)});
    assert_eq!(prices["updated_at"], times);
    let expected =
        items.iter().map(|item| json!({"id": item["id"], "market": "auctions", "lowest": item["lowest"]}));
    assert_eq!(rows_of(&prices, "auctions"), expected.collect::<Vec<_>>());
    let expected = bazaar["items"].as_array().unwrap().iter().map(|item| {
        json!({
            "id": item["id"], "market": "bazaar", "topBuyOrder": item["topBuyOrder"], "topSellOffer": item["topSellOffer"],
        })
    });
    assert_eq!(rows_of(&prices, "bazaar"), expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn files_have_the_headers_of_s3_and_cloudfront() {
    let cloud = start().await;
    record(&cloud, "record-bazaar", START).await;
    let file = get(&cloud, "/bazaar.json").await;
    let e_tag = file.header("etag").to_owned();
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=60, stale-if-error=3600"),
        ("accept-ranges", "bytes"),
        ("access-control-allow-origin", "*"),
        ("content-encoding", ""),
    ] {
        assert_eq!(file.header(name), value, "{name}");
    }
    assert!(e_tag.len() > 2 && e_tag.trim_matches('"').len() == e_tag.len() - 2, "{e_tag}");
    assert!(file.header("last-modified").ends_with(" GMT"));

    let compressed = send(&cloud, Method::GET, "/bazaar.json", &[("accept-encoding", "gzip, deflate")]).await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
    assert_eq!(compressed.header("etag"), format!("W/{e_tag}"));
    assert_eq!(unpacked(&compressed.body), file.body);

    let head = send(&cloud, Method::HEAD, "/bazaar.json", &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header("content-length"), file.body.len().to_string());

    let modified = file.header("last-modified");
    for (name, value, status) in [
        ("if-none-match", e_tag.as_str(), 304),
        ("if-none-match", compressed.header("etag"), 304),
        ("if-none-match", "\"other\"", 200),
        ("if-modified-since", modified, 304),
        ("if-modified-since", "Tue, 28 Apr 2020 15:00:00 GMT", 200),
        ("range", "bytes=0-9", 206),
        ("range", "bytes=-10", 206),
        ("range", "bytes=99999999-", 416),
        ("range", "items=0-9", 200),
    ] {
        let response = send(&cloud, Method::GET, "/bazaar.json", &[(name, value)]).await;
        assert_eq!(response.status, status, "{name}: {value}");
        assert_eq!(response.header("access-control-allow-origin"), "*");
        match status {
            304 => assert!(response.body.is_empty() && response.header("etag").contains(&e_tag)),
            206 => assert_eq!(response.body.len(), 10),
            _ => {}
        }
    }
    for path in ["/missing.json", "/", "/../bazaar.json", "/%2e%2e/bazaar.json", "/days"] {
        assert_eq!(get(&cloud, path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(send(&cloud, Method::OPTIONS, "/bazaar.json", &[]).await.status, StatusCode::OK);
    assert_eq!(send(&cloud, Method::POST, "/bazaar.json", &[]).await.status, StatusCode::FORBIDDEN);
}

/// Records one auction at this price, and returns the item's lowest price in the files. `tick`, and the time
/// of the provider's refresh (`refreshed`), are in Unix seconds.
async fn lowest_after(cloud: &Cloud, tick: i64, refreshed: i64, price: u64) -> Value {
    serve(cloud, refreshed * 1_000, &[listing(1, "HYPERION", price, START_MS)], &json!([]));
    // A new instance reads all pages.
    cloud.kill("record-auctions").await.unwrap();
    record(cloud, "record-auctions", tick).await;
    let lowest = get(cloud, "/lowestbin.json").await.json()["HYPERION"].take();
    let prices = get(cloud, "/prices.json").await.json();
    assert_eq!(rows_of(&prices, "auctions")[0]["lowest"], lowest);
    lowest
}

#[tokio::test]
async fn a_file_never_goes_back_in_time() {
    let cloud = start().await;
    assert_eq!(lowest_after(&cloud, START, START, 100).await, 100.0);
    assert_eq!(lowest_after(&cloud, START + MINUTE, START + MINUTE, 200).await, 200.0);
    // An older refresh does not replace the files.
    assert_eq!(lowest_after(&cloud, START + 2 * MINUTE, START, 300).await, 200.0);
    assert_eq!(lowest_after(&cloud, START + 3 * MINUTE, START + 3 * MINUTE, 400).await, 400.0);
    // A refresh far in the future does not block later refreshes.
    assert_eq!(lowest_after(&cloud, START + 4 * MINUTE, START + 3_000, 500).await, 500.0);
    assert_eq!(lowest_after(&cloud, START + 5 * MINUTE, START + 5 * MINUTE, 600).await, 600.0);
}

#[tokio::test]
async fn a_recorder_without_its_files_records_all_the_same() {
    let data = std::env::temp_dir().join(format!("public-files-{}", std::process::id()));
    let cloud = start_with(Options { data: Some(data.clone()), ..options() }).await;
    record(&cloud, "record-bazaar", START).await;
    std::fs::remove_dir_all(data.join("public")).unwrap();
    std::fs::write(data.join("public"), "not a folder").unwrap();
    let outcome = record(&cloud, "record-bazaar", START + MINUTE).await;
    assert!(outcome["products"].as_u64().unwrap() > 1_000, "{outcome}");
    await_logs(&cloud, 1, |line| line["message"] == "public files are not written").await;
    std::fs::remove_file(data.join("public")).unwrap();
    std::fs::create_dir(data.join("public")).unwrap();
    record(&cloud, "record-bazaar", START + 2 * MINUTE).await;
    assert_eq!(get(&cloud, "/bazaar.json").await.status, StatusCode::OK);
    cloud.shutdown().await;
    std::fs::remove_dir_all(data).unwrap();
}

#[tokio::test]
async fn a_killed_run_leaves_whole_files_and_the_next_one_completes_them() {
    let cloud = Arc::new(start().await);
    for tick in 0..12_u8 {
        let time = START + i64::from(tick) * MINUTE;
        let run = tokio::spawn({
            let cloud = Arc::clone(&cloud);
            async move { invoke(&cloud, "record-bazaar", event(time)).await }
        });
        // Kills the recorder at different times of a run, which takes a few hundred milliseconds.
        tokio::time::sleep(Duration::from_millis(60 * u64::from(tick))).await;
        cloud.kill("record-bazaar").await.unwrap();
        run.await.unwrap();
        for path in ["/bazaar.json", "/prices.json"] {
            let file = get(&cloud, path).await;
            assert!(file.status == StatusCode::NOT_FOUND || file.json().is_object(), "{path}");
        }
    }
    let time = START + 12 * MINUTE;
    record(&cloud, "record-bazaar", time).await;
    let bazaar = get(&cloud, "/bazaar.json").await.json();
    assert_eq!(get(&cloud, "/prices.json").await.json()["updated_at"]["bazaar"], refreshed_at(&bazaar));
}

const DAYS: &str = "/days/index.json";

#[tokio::test]
async fn every_finished_day_has_a_file_with_its_candles() {
    let cloud = start().await;
    build_all(&cloud, START).await;
    assert_eq!(get(&cloud, DAYS).await.json(), json!({"bazaar": [], "auctions": []}));
    for day in 0..10 {
        record(&cloud, "record-bazaar", START + day * DAY).await;
        build_all(&cloud, START + day * DAY + 10 * MINUTE).await;
    }
    // The days up to 6 May have ended. No run takes place at midnight, so the next run writes the file of a
    // day. On a busy machine, a run may reach its time limit; then a run of a later hour writes the file.
    for hour in 1..=4 {
        record(&cloud, "record-bazaar", START + 9 * DAY + hour * HOUR).await;
        build_all(&cloud, START + 9 * DAY + hour * HOUR + 10 * MINUTE).await;
    }
    let index = get(&cloud, DAYS).await;
    let april = (28..=30).map(|day| format!("2026-04-{day}"));
    let days: Vec<_> = april.chain((1..=6).map(|day| format!("2026-05-0{day}"))).collect();
    for day in &days {
        assert_eq!(get(&cloud, &format!("/days/bazaar/{day}.csv.gz")).await.status, StatusCode::OK, "{day}");
    }
    assert_eq!(index.json(), json!({"bazaar": days, "auctions": []}));
    // An hour without a new day leaves the list alone.
    record(&cloud, "record-bazaar", START + 9 * DAY + 5 * HOUR).await;
    build_all(&cloud, START + 9 * DAY + 5 * HOUR + 10 * MINUTE).await;
    assert_eq!(get(&cloud, DAYS).await.header("etag"), index.header("etag"));
    for path in
        ["/days/bazaar/2026-05-07.csv.gz", "/days/bazaar/2026-04-28.csv", "/days/auctions/2026-04-28.csv.gz"]
    {
        assert_eq!(get(&cloud, path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let file = get(&cloud, "/days/bazaar/2026-04-28.csv.gz").await;
    assert_eq!(file.header("content-type"), "application/gzip");
    let csv = String::from_utf8(unpacked(&file.body)).unwrap();
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    let line = lines.find(|line| line.starts_with("INK_SACK:3,")).unwrap();
    let path = "/v1/bazaar/candles?item_id=INK_SACK:3&interval=1d";
    let candles = get_at(&cloud, path, START_MS + 10 * DAY * 1_000).await.data();
    for (name, value) in header.split(',').zip(line.split(',')).skip(1) {
        assert_eq!(value.parse::<f64>().ok(), candles["candles"][0][name].as_f64(), "{name}");
    }
}
