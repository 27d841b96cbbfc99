//! A limit reaches DynamoDB: a request for few entries reads few rows.

use std::collections::BTreeSet;

use local::Cloud;
use serde_json::{Value, json};

use super::table::{self, Row};
use super::{START, start};
use crate::support::get_at;

/// The read units that a request consumes, and the number of entries in its response.
async fn cost(cloud: &Cloud, path: &str) -> (f64, usize) {
    let before = cloud.dynamodb().consumed().read_units;
    let response = get_at(cloud, path, START * 1_000).await;
    assert!(!response.cached());
    let count = response.data()["history"].as_array().unwrap().len();
    (cloud.dynamodb().consumed().read_units - before, count)
}

/// The row with a padding, so that it has almost 8 kB.
fn padded(row: &Value) -> Row {
    let mut row = row.as_object().unwrap().clone();
    // One read unit for an eventually consistent read.
    row.insert("padding".to_owned(), json!({"S": "x".repeat(7_800)}));
    row
}

async fn expect_costs(cloud: &Cloud, route: &str, limits: &[usize]) {
    let mut seen = BTreeSet::new();
    for limit in limits {
        let (units, count) = cost(cloud, &format!("{route}?limit={limit}")).await;
        assert_eq!(count, *limit, "{route}");
        let expected = f64::from(u32::try_from(*limit).unwrap());
        // DynamoDB rounds the sum of the rows, not each row.
        assert!(units > expected * 0.94 && units <= expected, "{route}?limit={limit}: {units} read units");
        seen.insert(units.to_bits());
    }
    assert_eq!(seen.len(), limits.len(), "each limit consumes other units");
}

#[tokio::test]
async fn mayors_beyond_the_limit_are_not_read() {
    let cloud = start().await;
    let mayor = |year: u32| {
        padded(&json!({
            "pk": {"S": "mayors"}, "sk": {"S": format!("{year:04}")},
            "name": {"S": "M"}, "key": {"S": "k"}, "perks": {"L": []},
        }))
    };
    table::put(&cloud, (250..400).map(mayor)).await;
    expect_costs(&cloud, "/v1/mayor/history", &[1, 2, 10, 24, 100]).await;
}

#[tokio::test]
async fn fire_sales_beyond_the_limit_are_not_read() {
    let cloud = start().await;
    let sale = |number: i64| {
        let start = (START * 1_000 + number).to_string();
        padded(&json!({
            "pk": {"S": "fire-sales"}, "sk": {"S": format!("{start}#A")}, "item_id": {"S": "A"},
            "start": {"N": start}, "end": {"N": start}, "amount": {"N": "1"}, "price": {"N": "5"},
            "recorded_at": {"N": START.to_string()}, "seen_at": {"N": START.to_string()},
        }))
    };
    table::put(&cloud, (0..300).map(sale)).await;
    // 130 of them are more than a page of 1 MB.
    expect_costs(&cloud, "/v1/fire-sales/history", &[1, 2, 10, 50, 130]).await;
}
