//! The processor time of a run that reads 60 pages, in turns with a plain pipeline, and that of the next run, without writing.
//!
//!     cargo bench -p benches --bench auction_reading

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark may panic, and prints"
)]

use std::collections::HashMap;
use std::fs::read_to_string;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::time::{Tick, UnixMilliseconds};
use common::upstream::UpstreamResponse;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use libdeflater::Decompressor;
use record_auctions::reading::{Reading, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use simulator::auctions::{Snapshot, ended};

const PAGES: usize = 60;
const TURNS: usize = 7;

/// The rows that are new a minute later: as many as in the capture, which was refreshed then.
const NEW: usize = 300;
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
    i: [Stack; 1],
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "the names of NBT")]
struct Stack {
    Count: i8,
    tag: Tag,
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "the names of NBT")]
struct Tag {
    ExtraAttributes: HashMap<String, fastnbt::Value>,
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
            let Items { i: [mut stack] } = fastnbt::from_bytes(&nbt).unwrap();
            let Some(fastnbt::Value::String(id)) = stack.tag.ExtraAttributes.remove("id") else { continue };
            let price = (auction.starting_bid / i64::from(stack.Count), auction.uuid);
            let entry = lowest.entry(id).or_insert_with(|| price.clone());
            if price.0 < entry.0 {
                *entry = price;
            }
        }
    }
    lowest
}

/// Runs the recorder, and returns the number of pages that it has read.
fn run(reading: &mut Reading, first: &[u8], pages: &[Vec<u8>], ended: &[u8], minute: i64) -> usize {
    let now = UnixMilliseconds::new(REFRESHED + 60_000 * minute);
    reading.begin(now, now);
    reading.begin_attempt();
    while let Some(request) = reading.next_request() {
        let body = match request {
            Request::EndedAuctions => ended,
            Request::Page(0) => first,
            Request::Page(page) => &pages[page as usize],
        };
        let mut plain = vec![0; u32::from_le_bytes(*body.last_chunk().unwrap()) as usize];
        Decompressor::new().gzip_decompress(body, &mut plain).unwrap();
        let response = UpstreamResponse::new("/", String::from_utf8(plain).unwrap());
        reading.learn(request, &response, Tick::of(now).into()).unwrap();
    }
    reading.finish().unwrap().pages
}

/// The processor time that `work` takes in this thread, in milliseconds, and its result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let so_far = || {
        let times = read_to_string("/proc/thread-self/schedstat").unwrap();
        times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
    };
    let start = so_far();
    let result = work();
    (so_far() - start, result)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The rows as this page, with ids of their own.
fn page(rows: &Value, page: usize, minute: i64) -> Vec<u8> {
    let mut rows = rows.clone();
    for (at, row) in rows.as_array_mut().unwrap().iter_mut().enumerate() {
        let minute = if at < NEW { minute } else { 0 };
        row["uuid"] = format!("{minute:02x}{page:02x}{}", &row["uuid"].as_str().unwrap()[4..]).into();
        row["last_updated"] = (row["last_updated"].as_i64().unwrap() + 60_000 * minute).into();
    }
    let refreshed = REFRESHED + 60_000 * minute;
    let body = json!({
        "success": true, "page": page, "totalPages": PAGES, "totalAuctions": PAGES * 1_000,
        "lastUpdated": refreshed, "auctions": rows,
    });
    gzip(&body.to_string())
}

fn main() {
    let simulated = || Snapshot::new(1, REFRESHED).page(0).unwrap();
    let capture = captures::text("auctions/v2-20250608T1707Z-page0.json").unwrap_or_else(simulated);
    let rows = serde_json::from_str::<Value>(&capture).unwrap()["auctions"].take();
    let pages: Vec<_> = (0..PAGES).map(|number| page(&rows, number, 0)).collect();
    let (next, ended) = (page(&rows, 0, 1), gzip(&ended::body(1, REFRESHED)));
    let mut times = [(); 3].map(|()| Vec::new());
    for _ in 0..TURNS {
        let mut reading = Reading::default();
        let (complete, read) = timed(|| run(&mut reading, &pages[0], &pages, &ended, 0));
        let (other, read_next) = timed(|| run(&mut reading, &next, &pages, &ended, 1));
        assert_eq!((read, read_next), (PAGES, 1));
        if times[0].is_empty() {
            let status = read_to_string("/proc/self/status").unwrap();
            println!("{:?} with the compressed pages", status.lines().find(|line| line.starts_with("VmHWM")));
        }
        for (times, time) in times.iter_mut().zip([timed(|| plain(&pages)).0, complete, other]) {
            times.push(time);
        }
    }
    let [plain, complete, other] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[TURNS / 2]
    });
    println!("plain pipeline {plain:.0} ms, complete reading {complete:.0} ms: {:.2}", complete / plain);
    println!("next run {other:.1} ms");
}
