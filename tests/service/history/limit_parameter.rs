//! The parameter `limit` reaches DynamoDB: a request for few entries reads few rows.

use local::Cloud;
use serde_json::json;

use super::table::{self, Row, with};
use super::{START, start};
use crate::support::get_at;

/// Fills the table with these rows of almost 8 kB each. Panics unless a request reads only as many rows as it
/// returns.
async fn expect_costs(cloud: &Cloud, route: &str, rows: impl Iterator<Item = Row>, limits: &[u32]) {
    // An eventually consistent read of such a row takes one read unit.
    let padding = json!({"S": "x".repeat(7_700)});
    table::put(cloud, rows.map(|row| with(&row, "padding", padding.clone()))).await;
    for limit in limits {
        let before = cloud.dynamodb().consumed().read_units;
        let data = get_at(cloud, &format!("{route}?limit={limit}"), START * 1_000).await.data();
        let units = cloud.dynamodb().consumed().read_units - before;
        assert_eq!(data["history"].as_array().unwrap().len(), usize::try_from(*limit).unwrap(), "{route}");
        let expected = f64::from(*limit);
        // DynamoDB rounds the sum of the sizes, not each size.
        assert!(units > expected * 0.94 && units <= expected, "{route}?limit={limit}: {units} read units");
    }
}

#[tokio::test]
async fn mayors_and_fire_sales_beyond_the_limit_are_not_read() {
    let cloud = start().await;
    expect_costs(&cloud, "/v1/mayor/history", (250..400).map(table::mayor), &[1, 2, 24, 100]).await;
    let sales = (0..300).map(|number| table::sale("A", START * 1_000 + number, START));
    // 140 rows have more than 1 MB, the most that one query reads.
    expect_costs(&cloud, "/v1/fire-sales/history", sales, &[1, 2, 50, 140]).await;
}
