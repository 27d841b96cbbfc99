//! The time of a page from the provider's body to the data of the response, compared with skipping the same bytes.
//!
//!     cargo bench -p benches --bench auctions

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use common::request::parameters::PageNumber;
use common::upstream::UpstreamResponse;
use common::upstream::auctions::PATH;
use criterion::{Criterion, criterion_group, criterion_main};
use serde::de::IgnoredAny;
use simulator::auctions::Snapshot;

/// The capture, or a simulated page if there is none.
fn body() -> String {
    let simulated = || Snapshot::new(1, 1_777_388_580_000).page(0).unwrap();
    captures::text("auctions/v2-20250608T1707Z-page0.json").unwrap_or_else(simulated)
}

fn page(criterion: &mut Criterion) {
    let response = UpstreamResponse::new(PATH, body());
    let mut group = criterion.benchmark_group("auctions");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(response.body.as_bytes())).unwrap());
    });
    group.bench_function("page", |bencher| {
        bencher.iter(|| auctions::shape(PageNumber::default(), black_box(&response)).unwrap());
    });
    group.finish();
}

criterion_group!(benches, page);
criterion_main!(benches);
