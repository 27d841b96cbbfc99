//! The processor time of a run that reads 60 pages, compared with a plain pipeline, and of a run between two such runs. They take turns.
//!
//!     cargo bench -p record-auctions --bench reading

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark may panic, and prints"
)]

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::{UpstreamResponse, auctions, ended_auctions};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use libdeflater::Decompressor;
use record_auctions::reading::{Reading, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use simulator::auctions::Snapshot;

const PAGES: usize = 60;
const TURNS: usize = 7;

/// The rows that are new a minute later: as many as in the capture.
const NEW: usize = 300;

/// The refresh of the capture.
const REFRESHED: i64 = 1_749_402_460_812;

#[derive(Deserialize)]
struct Page {
    auctions: Vec<Auction>,
}

#[derive(Deserialize)]
struct Auction {
    uuid: String,
    bin: bool,
    starting_bid: i64,
    item_bytes: String,
}

#[derive(Deserialize)]
struct Items {
    i: Vec<Stack>,
}

#[derive(Deserialize)]
struct Stack {
    #[serde(rename = "Count")]
    count: i8,
    tag: Tag,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "ExtraAttributes")]
    extra_attributes: HashMap<String, fastnbt::Value>,
}

/// Finds the lowest price of each `ExtraAttributes.id` with the usual crates. That is less than the recorder finds.
fn plain(bodies: &[Vec<u8>]) -> HashMap<String, (i64, String)> {
    let inflate = |bytes: &[u8]| {
        let mut plain = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        plain
    };
    let mut lowest = HashMap::<String, (i64, String)>::new();
    for body in bodies {
        let page: Page = serde_json::from_slice(&inflate(body)).unwrap();
        for auction in page.auctions.into_iter().filter(|auction| auction.bin) {
            let nbt = inflate(&STANDARD.decode(&auction.item_bytes).unwrap());
            let items: Items = fastnbt::from_bytes(&nbt).unwrap();
            let stack = items.i.into_iter().next().unwrap();
            let Some(fastnbt::Value::String(id)) = stack.tag.extra_attributes.get("id") else { continue };
            let price = auction.starting_bid / i64::from(stack.count);
            let entry = lowest.entry(id.clone()).or_insert_with(|| (price, auction.uuid.clone()));
            if price < entry.0 {
                *entry = (price, auction.uuid);
            }
        }
    }
    lowest
}

/// Runs the recorder, and returns the number of pages that it has read.
fn run(reading: &mut Reading, first: &[u8], pages: &[Vec<u8>], ended: &[u8], minute: i64) -> usize {
    let now = UnixMilliseconds::new(REFRESHED + 60_000 * minute);
    reading.begin(now);
    reading.begin_attempt();
    while let Some(request) = reading.next_request() {
        let (path, body) = match request {
            Request::EndedAuctions => (ended_auctions::PATH, ended),
            Request::Page(0) => (auctions::PATH, first),
            Request::Page(page) => (auctions::PATH, &*pages[page as usize]),
        };
        let mut plain = vec![0; u32::from_le_bytes(*body.last_chunk().unwrap()) as usize];
        Decompressor::new().gzip_decompress(body, &mut plain).unwrap();
        let response = UpstreamResponse::new(path, String::from_utf8(plain).unwrap());
        reading.learn(request, &response, Tick::of(now)).unwrap();
    }
    reading.finish().unwrap().pages
}

/// The processor time that `work` takes in this thread.
fn processor_time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let so_far = || {
        let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
    };
    let start = so_far();
    let result = work();
    (so_far().saturating_sub(start), result)
}

/// The most memory that the process has had, in megabytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The capture, or a simulated page if there is none, as this page, with ids of its own.
fn page(rows: &Value, page: usize, minute: i64) -> Vec<u8> {
    let mut rows = rows.clone();
    for (at, row) in rows.as_array_mut().unwrap().iter_mut().enumerate() {
        let minute = if at < NEW { minute } else { 0 };
        let id = row["uuid"].as_str().unwrap();
        row["uuid"] = format!("{minute:02x}{page:02x}{}", &id[4..]).into();
        row["last_updated"] = (row["last_updated"].as_i64().unwrap() + 60_000 * minute).into();
    }
    let body = json!({
        "success": true, "page": page, "totalPages": PAGES, "totalAuctions": PAGES * 1_000,
        "lastUpdated": REFRESHED + 60_000 * minute, "auctions": rows,
    });
    gzip(&body.to_string())
}

fn main() {
    let simulated = || Snapshot::new(1, REFRESHED).page(0).unwrap();
    let capture = captures::text("auctions/v2-20250608T1707Z-page0.json").unwrap_or_else(simulated);
    let rows = serde_json::from_str::<Value>(&capture).unwrap()["auctions"].take();
    let pages: Vec<_> = (0..PAGES).map(|number| page(&rows, number, 0)).collect();
    let next = page(&rows, 0, 1);
    let none = || json!({"success": true, "lastUpdated": REFRESHED, "auctions": []}).to_string();
    let ended = captures::text("auctions_ended/v2-20260425T1603Z.json").unwrap_or_else(none);
    let ended = gzip(&ended);
    let before = peak_memory();
    let (mut plain_times, mut complete_times, mut other_times) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let mut reading = Reading::default();
        let (time, read) = processor_time(|| run(&mut reading, &pages[0], &pages, &ended, 0));
        assert_eq!(read, PAGES);
        complete_times.push(time);
        let (time, read) = processor_time(|| run(&mut reading, &next, &pages, &ended, 1));
        assert_eq!(read, 1);
        other_times.push(time);
        if turn == 0 {
            println!("memory: {} MB at most, with the bodies, after {before} MB before", peak_memory());
        }
        plain_times.push(processor_time(|| plain(&pages)).0);
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[TURNS / 2].as_secs_f64() * 1e3
    };
    let (plain, complete, other) = (median(plain_times), median(complete_times), median(other_times));
    println!("plain pipeline: {plain:.0} ms");
    println!("complete reading: {complete:.0} ms, {:.2} of the plain pipeline", complete / plain);
    println!("another run, without writing: {other:.1} ms");
}
