//! The time of the catalogue from the provider's body to the data of the response, compared with skipping the same bytes.
//!
//!     cargo bench -p benches --bench items

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use common::lambda::provider_route::ProviderRoute;
use common::upstream;
use common::upstream::UpstreamResponse;
use criterion::{Criterion, criterion_group, criterion_main};
use items::Items;
use serde::de::IgnoredAny;

/// The capture, or simulated items if there is none.
fn body() -> String {
    captures::text("items/v2-20241015.json").unwrap_or_else(|| simulator::items::body(1, 1_777_388_600_000))
}

fn catalogue(criterion: &mut Criterion) {
    let response = UpstreamResponse::new(upstream::items::PATH, body());
    let mut group = criterion.benchmark_group("items");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(response.body.as_bytes())).unwrap());
    });
    group.bench_function("catalogue", |bencher| {
        bencher.iter(|| Items::document(black_box(&response)).unwrap());
    });
    group.finish();
}

criterion_group!(benches, catalogue);
criterion_main!(benches);
