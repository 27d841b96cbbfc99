//! The time of a page of items from their texts to their ids, compared with a plain pipeline that reads each item as a whole
//! into memory of its own.
//!
//!     cargo bench -p benches --bench auction_item

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use record_auctions::item::{Buffers, read};
use simulator::auctions::Snapshot;

/// The items of the capture, or of a simulated page without a capture.
fn texts() -> Vec<String> {
    let simulated = || Snapshot::new(1, 1_777_388_580_000).page(0).unwrap();
    let page = captures::text("auctions/v2-20250608T1707Z-page0.json").unwrap_or_else(simulated);
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let text = |auction: &serde_json::Value| auction.get("item_bytes").unwrap().as_str().unwrap().to_owned();
    page.get("auctions").unwrap().as_array().unwrap().iter().map(text).collect()
}

fn plain(text: &str) -> fastnbt::Value {
    let gzip = STANDARD.decode(text).unwrap();
    let mut nbt = Vec::new();
    GzDecoder::new(&gzip[..]).read_to_end(&mut nbt).unwrap();
    fastnbt::from_bytes(&nbt).unwrap()
}

fn item(criterion: &mut Criterion) {
    let texts = texts();
    let mut buffers = Buffers::default();
    let mut group = criterion.benchmark_group("item");
    group.throughput(Throughput::Elements(texts.len().try_into().unwrap()));
    group.bench_function("plain", |bencher| {
        bencher.iter(|| texts.iter().for_each(|text| drop(black_box(plain(text)))));
    });
    group.bench_function("read", |bencher| {
        bencher.iter(|| texts.iter().for_each(|text| drop(black_box(read(text, &mut buffers).unwrap()))));
    });
    group.finish();
}

criterion_group!(benches, item);
criterion_main!(benches);
