//! The time of a player from the provider's body to the data of the response, compared with skipping the same bytes.
//!
//!     cargo bench -p benches --bench profile

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use common::upstream::UpstreamResponse;
use common::upstream::mojang::Player;
use common::upstream::profiles::PATH;
use criterion::{Criterion, criterion_group, criterion_main};
use serde::de::IgnoredAny;

const UUID: &str = "7da0c47581dc42b4962118f8049147b7";

/// The capture, or a simulated player without captures.
fn body() -> String {
    captures::text("profiles/v2-elite-7da0c475.json")
        .unwrap_or_else(|| simulator::profiles::body(1, UUID, 1_777_388_600_000))
}

fn player(criterion: &mut Criterion) {
    let response = UpstreamResponse::new(PATH, body());
    let player = Player { uuid: UUID.to_owned(), name: "Co_op_Farmer".to_owned() };
    let mut group = criterion.benchmark_group("profile");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(response.body.as_bytes())).unwrap());
    });
    group.bench_function("player", |bencher| {
        bencher.iter(|| profile::shape(&player, black_box(&response)).unwrap());
    });
    group.finish();
}

criterion_group!(benches, player);
criterion_main!(benches);
