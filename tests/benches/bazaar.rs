//! The time of each mode from the provider's body to the data of the response, compared with skipping the same bytes. Cases
//! with `parsed` begin with a snapshot that another request has parsed. `full, fetched` includes the escaped body of a proxy
//! response.
//!
//!     cargo bench -p benches --bench bazaar

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;

use bazaar::{Query, Snapshot};
use common::response::Data;
use common::upstream::UpstreamResponse;
use common::upstream::bazaar::{Orders, PATH, Product, market, order_book};
use criterion::{Criterion, criterion_group, criterion_main};
use serde::de::IgnoredAny;

/// The capture, or a simulated body if there is none.
fn body() -> String {
    let capture = captures::text("bazaar/v2-20260428T1503Z.json");
    capture.unwrap_or_else(|| simulator::bazaar::body(1, 1_777_388_600_000))
}

fn modes(criterion: &mut Criterion) {
    let response = UpstreamResponse::new(PATH, body());
    let snapshot = |orders| Snapshot::of(response.clone(), orders).unwrap();
    let document = |query: &Query| {
        let orders = if matches!(query, Query::Full) { Orders::Read } else { Orders::LeftOut };
        snapshot(orders).document(query).unwrap()
    };
    let products = market(&response, Orders::LeftOut).unwrap().products.usable;
    let last = &products.last().unwrap().id;
    // The last product with as many orders as there can be.
    let is_full = |product: &&Product| {
        let book = order_book(&response, product).unwrap();
        book.buy_orders.len() + book.sell_offers.len() == 60
    };
    let busy = &products.iter().rfind(is_full).unwrap().id;
    let hundred: Vec<&str> =
        products.iter().rev().step_by(19).take(100).map(|product| &*product.id).collect();
    let queries = [
        ("full", Query::Full),
        ("list", Query::List),
        ("item", Query::Item(last.parse().unwrap())),
        ("flips", Query::Flips(20)),
        ("items", Query::Items(hundred.join(",").parse().unwrap())),
        ("book", Query::Book(busy.parse().unwrap())),
        ("prices", Query::Prices),
    ];
    let mut group = criterion.benchmark_group("bazaar");
    group.bench_function("skip", |bencher| {
        bencher.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(response.body.as_bytes())).unwrap());
    });
    for (name, query) in &queries {
        group.bench_function(*name, |bencher| bencher.iter(|| document(query)));
    }
    let parsed = snapshot(Orders::Read);
    for (name, query) in &queries {
        group.bench_function(format!("{name}, parsed"), |bencher| {
            bencher.iter(|| parsed.document(query).unwrap());
        });
    }
    group.bench_function("full, fetched", |bencher| {
        bencher.iter(|| {
            let document = document(&Query::Full);
            let response = Data { document, cached: false, fetched_at: None, refresh_failure: None };
            serde_json::to_vec(&response.body(|_| false)).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, modes);
criterion_main!(benches);
