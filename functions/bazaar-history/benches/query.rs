//! How long a query of 90 days takes, compared with reading DynamoDB's response with typed serde. The response comes from the
//! embedded DynamoDB, which executes the query once and is not measured. `points` includes everything that the SDK does:
//! it writes and signs the request. `response` adds the escaped body of a proxy response.
//!
//!     cargo bench -p bazaar-history

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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
use dynoxide::{Database, ImportOptions};
use serde::Deserialize;
use serde_json::json;
use tables::history::bazaar::{self, TIERS};
use tables::{SdkConfig, Table};

const ID: &str = "INK_SACK:3";
/// Where its rows are.
const PARTITION: &str = "bazaar#3h#504";
const NEWEST: i64 = 1_777_388_400 / 10_800 * 10_800;

/// The rows of 90 days, as the recorder writes them. There is a second product in the shard.
fn database() -> Database {
    let key = |name: &str, kind: &str| json!({"AttributeName": name, "KeyType": kind});
    let text = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let definition = json!({
        "TableName": "History", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
        "AttributeDefinitions": [text("pk"), text("sk")],
    });
    let row = |slot: i64| {
        let price = |cents: i64| json!({"N": format!("{}.{}", 40 + slot % 7, cents + slot % 90)});
        let volume = |volume: i64| json!({"N": (volume + slot % 9_973).to_string()});
        let quote = json!({"L": [price(1), price(7), volume(1_234_567), volume(23_456_789)]});
        let row = json!({
            "pk": {"S": PARTITION}, "sk": {"S": format!("{slot:010}")}, "ttl": {"N": slot.to_string()},
            "products": {"M": {ID: quote, "OTHER": quote}},
        });
        serde_json::from_value(row).unwrap()
    };
    let database = Database::memory().unwrap();
    database.create_table(serde_json::from_value(definition).unwrap()).unwrap();
    let rows = (0..720).map(|slot| row(NEWEST - slot * 10_800)).collect();
    database.import_items("History", rows, ImportOptions::default()).unwrap();
    database
}

/// Executes the first query, and returns its response to every one.
#[derive(Debug, Default)]
struct Recorded(OnceLock<Vec<u8>>);

impl HttpConnector for Recorded {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let response = self.0.get_or_init(|| {
            let query = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
            serde_json::to_vec(&database().query(query).unwrap()).unwrap()
        });
        let response = HttpResponse::new(200.try_into().unwrap(), SdkBody::from(response.clone()));
        HttpConnectorFuture::ready(Ok(response))
    }
}

fn sdk(recorded: Arc<Recorded>) -> SdkConfig {
    #[derive(Debug)]
    struct Connector(Arc<Recorded>);
    impl HttpConnector for Connector {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            self.0.call(request)
        }
    }
    let connector = SharedHttpConnector::new(Connector(recorded));
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

/// The response, typed: borrowed texts, and numbers as DynamoDB writes them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Typed<'a> {
    #[serde(borrow)]
    items: Vec<TypedRow<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only read")]
struct TypedRow<'a> {
    #[serde(borrow)]
    sk: TypedText<'a>,
    #[serde(borrow)]
    products: TypedMap<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only read")]
struct TypedText<'a> {
    #[serde(rename = "S")]
    text: &'a str,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only read")]
struct TypedMap<'a> {
    #[serde(rename = "M", borrow)]
    entries: HashMap<&'a str, TypedList<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only read")]
struct TypedList<'a> {
    #[serde(rename = "L", borrow)]
    numbers: [TypedNumber<'a>; 4],
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only read")]
struct TypedNumber<'a> {
    #[serde(rename = "N")]
    number: &'a str,
}

fn ninety_days(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let recorded = Arc::new(Recorded::default());
    let table = Table::of_sdk(&sdk(Arc::clone(&recorded)), "History");
    let [.., tier] = &TIERS;
    let (id, now): (ItemId, _) = (ID.parse().unwrap(), UnixSeconds::new(NEWEST + 60));
    let points = || {
        let points = bazaar::points(table.with_timeout(Duration::from_secs(10)), tier, &id, now);
        runtime.block_on(points).unwrap()
    };
    assert_eq!(points().len(), 720);

    let response = recorded.0.get().unwrap();
    let mut group = criterion.benchmark_group("bazaar-history");
    group.bench_function("typed serde", |bencher| {
        bencher.iter(|| serde_json::from_slice::<Typed<'_>>(black_box(response)).unwrap().items.len());
    });
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
