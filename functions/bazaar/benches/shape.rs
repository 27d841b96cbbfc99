//! What each mode costs beside skipping the same bytes: from the provider's body to the answer's bytes, which a document
//! holds in pieces. `full, fetched` goes on to the escaped body of a proxy response.
//!
//!     cargo bench -p bazaar

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use bazaar::{FlipsLimit, ProcessedItem, Snapshot, flips};
use common::envelope::{Answer, Document};
use common::upstream::Reply;
use common::upstream::bazaar::PATH;
use criterion::{Criterion, criterion_group, criterion_main};
use serde::de::IgnoredAny;

/// The capture, or a simulated body where there is none.
fn body() -> String {
    let capture = captures::text("bazaar/v2-20260428T1503Z.json");
    capture.unwrap_or_else(|| simulator::bazaar::body(1, 1_777_388_600_000))
}

fn modes(criterion: &mut Criterion) {
    let reply = Reply::new(PATH, body());
    let snapshot = || Snapshot::new(reply.clone());
    let last = snapshot().products().unwrap().last().unwrap().id.clone();
    let mut group = criterion.benchmark_group("bazaar");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(reply.body.as_bytes())).unwrap());
    });
    group.bench_function("full", |bencher| bencher.iter(|| snapshot().full().unwrap()));
    group.bench_function("list", |bencher| bencher.iter(|| snapshot().list().unwrap()));
    group.bench_function("item", |bencher| {
        bencher.iter(|| {
            let snapshot = snapshot();
            let product = snapshot.products().unwrap().iter().find(|product| product.id == last).unwrap();
            Document::of(&ProcessedItem::of(product)).unwrap()
        });
    });
    group.bench_function("flips", |bencher| {
        bencher.iter(|| {
            let snapshot = snapshot();
            Document::of(&flips(snapshot.products().unwrap(), FlipsLimit::default().get())).unwrap()
        });
    });
    group.bench_function("full, fetched", |bencher| {
        bencher.iter(|| {
            let document = snapshot().full().unwrap();
            let answer = Answer { document, cached: false, fetched_at: None, refresh_failure: None };
            serde_json::to_vec(&answer.body(|_| false)).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, modes);
criterion_main!(benches);
