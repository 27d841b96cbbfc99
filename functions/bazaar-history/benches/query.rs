//! How long a query of 90 days takes, compared with reading DynamoDB's response with typed serde. `points` includes everything that
//! the SDK does: it writes and signs the request. `response` adds the escaped body of a proxy response. `AttributeValue` is the same
//! query if the SDK reads the response, before anything is made of its rows.
//!
//!     cargo bench -p bazaar-history

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Credentials, Region, RuntimeComponents, SharedCredentialsProvider,
};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector, http_client_fn,
};
use aws_smithy_types::body::SdkBody;
use bazaar_history::document;
use common::params::ItemId;
use common::response::Data;
use common::time::UnixSeconds;
use criterion::{Criterion, criterion_group, criterion_main};
use tables::history::bazaar::{self, TIERS};
use tables::{SdkConfig, Table};

const TABLE: &str = "History";

/// Responds to every request with this body.
#[derive(Debug)]
struct Canned(&'static str);

impl HttpConnector for Canned {
    fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
        let response = HttpResponse::new(200.try_into().unwrap(), SdkBody::from(self.0));
        HttpConnectorFuture::ready(Ok(response))
    }
}

fn sdk(body: &'static str) -> SdkConfig {
    let connector = SharedHttpConnector::new(Canned(body));
    let credentials = Credentials::new("measured", "measured", Some("measured".to_owned()), None, "bench");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("eu-central-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(http_client_fn(move |_: &HttpConnectorSettings, _: &RuntimeComponents| {
            connector.clone()
        }))
        .build()
}

fn ninety_days(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let body: &str = history_response::body().leak();
    let sdk = sdk(body);
    let (client, table) = (Client::new(&sdk), Table::of_sdk(&sdk, TABLE));
    let [.., tier] = &TIERS;
    let id: ItemId = history_response::ID.parse().unwrap();
    let now = UnixSeconds::new(history_response::NEWEST + 60);
    let points = || {
        let points = bazaar::points(table.with_timeout(Duration::from_secs(10)), tier, &id, now);
        runtime.block_on(points).unwrap()
    };
    let attribute_values = || {
        let query = client.query().table_name(TABLE).key_condition_expression("pk = :partition");
        runtime.block_on(query.send()).unwrap()
    };
    assert_eq!(points().len(), usize::try_from(history_response::ROWS).unwrap());
    assert_eq!(attribute_values().items().len(), points().len());

    let mut group = criterion.benchmark_group("bazaar-history");
    group.bench_function("typed serde", |bencher| {
        bencher.iter(|| history_response::read(black_box(body.as_bytes())).unwrap());
    });
    group.bench_function("AttributeValue", |bencher| bencher.iter(attribute_values));
    group.bench_function("points", |bencher| bencher.iter(points));
    group.bench_function("response", |bencher| {
        bencher.iter(|| {
            let document = Arc::new(document(&id, tier, points()).unwrap());
            let response = Data { document, cached: false, fetched_at: None, refresh_failure: None };
            serde_json::to_vec(&response.body(|_| false)).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, ninety_days);
criterion_main!(benches);
