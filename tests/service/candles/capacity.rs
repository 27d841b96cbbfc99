//! The capacity that a page consumes, with as many products as the game has.

use simulator::{Fault, bazaar};

use super::{INTERVALS, MIDNIGHT, build, candles, copies, page};
use crate::history::market::BAZAAR;
use crate::history::table::{self, Row};
use crate::history::{MINUTE, record, start};
use crate::support::{expect_clean_logs, simulator};

/// The most read units of a query of 288 candles.
const WORST_READ_UNITS: f64 = 45.0;

fn ids(row: &Row) -> Vec<&str> {
    row["products"]["M"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_page_of_288_candles_is_one_query_and_one_of_1000_at_most_two() {
    let cloud = start().await;
    simulator(&cloud).set_fault(BAZAAR, Fault::default().with_body(bazaar::body(1, MIDNIGHT * 1_000)));
    record(&cloud, crate::history::market::RECORDER, MIDNIGHT - MINUTE).await;
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = candles(&cloud).await;
    for interval in &INTERVALS {
        let front = format!("candles#{}#", interval.name);
        let rows =
            dump.iter().filter(|((partition, _), _)| partition.starts_with(&front)).map(|(_, row)| row);
        let largest = rows.max_by_key(|row| serde_json::to_string(row).unwrap().len()).unwrap();
        let id = ids(largest)[0];
        let slot = |number: i64| interval.slot(MIDNIGHT - MINUTE) + number * interval.length;
        table::put(&cloud, copies(largest, (1..1_200).map(slot))).await;
        let now = slot(1_200) + 30 * MINUTE;
        for (limit, most) in [(288, 1), (1_000, 2)] {
            let (queries, units) =
                (cloud.dynamodb().requests("Query"), cloud.dynamodb().consumed().read_units);
            let further = format!("&limit={limit}{}", super::before(slot(1_199)));
            assert_eq!(page(&cloud, id, interval, &further, now).await.count, limit, "{}", interval.name);
            let queries = cloud.dynamodb().requests("Query") - queries;
            let units = cloud.dynamodb().consumed().read_units - units;
            assert!(queries <= most, "{}: {queries} queries for {limit} candles", interval.name);
            assert!(limit > 288 || units <= WORST_READ_UNITS, "{}: {units} read units", interval.name);
        }
    }
    expect_clean_logs(&cloud);
}
