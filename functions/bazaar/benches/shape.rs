//! How long each mode takes, compared with skipping the same bytes: from the provider's body to the data of the response.
//! `full, fetched` includes the escaped body of a proxy response.
//!
//!     cargo bench -p bazaar

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use bazaar::{MarketQuery, Query, Snapshot};
use common::response::Response;
use common::routes::FlipsLimit;
use common::upstream::UpstreamResponse;
use common::upstream::bazaar::{PATH, market};
use criterion::{Criterion, criterion_group, criterion_main};
use serde::de::IgnoredAny;

/// The capture, or a simulated body if there is none.
fn body() -> String {
    let capture = captures::text("bazaar/v2-20260428T1503Z.json");
    capture.unwrap_or_else(|| simulator::bazaar::body(1, 1_777_388_600_000))
}

fn modes(criterion: &mut Criterion) {
    let response = UpstreamResponse::new(PATH, body());
    let document = |query: &Query| {
        let snapshot = Snapshot::new(response.clone());
        match query {
            Query::Full => snapshot.full().unwrap(),
            Query::Market(query) => snapshot.market().unwrap().document(query).unwrap(),
        }
    };
    let last = market(&response).unwrap().usable.last().unwrap().id.clone();
    let mut group = criterion.benchmark_group("bazaar");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(response.body.as_bytes())).unwrap());
    });
    for (name, query) in [
        ("full", Query::Full),
        ("list", Query::Market(MarketQuery::List)),
        ("item", Query::Market(MarketQuery::Item(last.parse().unwrap()))),
        ("flips", Query::Market(MarketQuery::Flips(FlipsLimit::default()))),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| document(&query)));
    }
    group.bench_function("full, fetched", |bencher| {
        bencher.iter(|| {
            let document = document(&Query::Full);
            let response = Response { document, cached: false, fetched_at: None, refresh_failure: None };
            serde_json::to_vec(&response.body(|_| false)).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, modes);
criterion_main!(benches);
