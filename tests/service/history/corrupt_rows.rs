//! A corrupt row is skipped with a warning that names its key, hides no other row and stops no recorder.

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use super::market::{Market, quote};
use super::table::{self, Row, with};
use super::{MINUTE, START, event, rfc3339, start};
use crate::auction_prices::house;
use crate::support::{RECORDERS, await_logs, expect_clean_logs, get_at, invoke, log_lines, simulator};

fn is_warning(line: &Value) -> bool {
    line["level"] == "WARN" && line["message"] == "a corrupt row is skipped"
}

/// Waits for the warning after the first `before` warnings. Panics unless it is the last warning, and names
/// this row and the attribute.
pub(crate) async fn expect_warning(
    cloud: &Cloud,
    (partition, sort): (String, String),
    attribute: &str,
    before: usize,
) {
    let warnings = await_logs(cloud, before + 1, is_warning).await;
    let warning = warnings.last().unwrap();
    let named = (&warning["partition_key"], &warning["sort_key"]);
    assert_eq!(named, (&partition.into(), &sort.into()), "{warning}");
    let cause = warning["cause"].as_str().unwrap();
    assert!(cause.contains(&format!("attribute {attribute} is missing or not ")), "{attribute}: {cause}");
    assert_eq!(log_lines(cloud).iter().filter(|line| is_warning(line)).count(), before + 1);
}

#[tokio::test]
async fn a_corrupt_quote_hides_no_other_point() {
    let cloud = start().await;
    for minute in 0..3 {
        Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START + minute * MINUTE).await;
    }
    let dump = table::dump(&cloud).await;
    let second = (START + MINUTE).to_string();
    let is_second = |row: &&Row| row["sk"]["S"] == second.as_str() && row.contains_key("products");
    let row = dump.values().find(is_second).unwrap();
    let quote = |quote: Value| with(row, "products", json!({"M": {"A": quote}}));
    let numbers = |numbers: &[&str]| {
        let values: Vec<_> = numbers.iter().map(|number| json!({"N": number})).collect();
        quote(json!({"L": values}))
    };
    let corrupt = [
        quote(json!({"S": "1,2,3,4"})),
        quote(json!({"L": [{"S": "1"}, {"S": "2"}, {"S": "3"}, {"S": "4"}]})),
        numbers(&["1", "2", "3"]),
        numbers(&["-1", "2", "3", "4"]),
        numbers(&["1", "2", "3.5", "4"]),
    ];
    // The projection finds nothing in these rows, so they look like minutes without the product.
    let missing = [with(row, "products", json!({"S": "all"})), with(row, "products", json!({"L": []}))];
    let count = corrupt.len();
    for (number, corrupt) in corrupt.into_iter().chain(missing).enumerate() {
        table::put(&cloud, [corrupt.clone()]).await;
        cloud.kill("bazaar-history").await.unwrap();
        let points = super::chart::points(&cloud, "A", "1h", START + 3 * MINUTE).await;
        let expected = [START, START + 2 * MINUTE].map(rfc3339);
        assert_eq!(super::chart::times(&points), expected, "{corrupt:?}");
        if number < count {
            expect_warning(&cloud, table::key(&corrupt), "products", number).await;
        }
    }
    // Keys that are not a number, not a full minute, or not as recorders write them.
    table::put(&cloud, [row.clone()]).await;
    for (number, key) in (count..).zip(["17773884x0", "1777388461", "1777388460#001"]) {
        let (partition, _) = table::key(row);
        table::put(&cloud, [with(row, "sk", json!({"S": key}))]).await;
        cloud.kill("bazaar-history").await.unwrap();
        let points = super::chart::points(&cloud, "A", "1h", START + 3 * MINUTE).await;
        assert_eq!(points.len(), 3, "{key}");
        expect_warning(&cloud, (partition.clone(), key.to_owned()), "sk", number).await;
        table::delete(&cloud, &partition, key).await;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_row_stops_no_recorder() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).show(&cloud);
    let sale = json!({"item_id": "A", "start": START * 1_000, "end": START * 1_000, "amount": 1, "price": 2});
    let body = json!({"success": true, "sales": [sale]}).to_string();
    simulator(&cloud).set_fault("/v2/skyblock/firesales", Fault::default().with_body(body));
    house::serve(&cloud, START * 1_000, &[house::listing(1, "A", 1, START * 1_000)], &json!([]));
    let record_all = async |what: &str| {
        for recorder in RECORDERS {
            // At this time, 5-minute candles are due.
            let now = if recorder == "record-candles" { START + 7 * MINUTE } else { START };
            let response = invoke(&cloud, recorder, event(now)).await;
            let has_failed = response.headers.contains_key("x-amz-function-error");
            assert!(!has_failed, "{recorder}, {what}: {}", response.text);
        }
    };
    record_all("an empty table").await;
    let dump = table::dump(&cloud).await;
    // Rows and markers of minutes and candles, the progress of the bazaar's candles and of the hours of
    // auctions, a mayor, a sale, and the prices and lowest auctions of a minute. The list of sold auctions is
    // of the last minute of an hour, which therefore has a row of sales and of sums, three averages, and
    // their state. The last row has the names.
    assert_eq!(dump.len(), 19);
    for (key, row) in &dump {
        for attribute in row.keys().filter(|name| !["pk", "sk"].contains(&name.as_str())) {
            for value in [json!({"S": "soon"}), json!({"N": "-1.5"}), json!({"NULL": true}), json!({"L": []})]
            {
                let what = format!("{key:?}: {attribute} is {value}");
                table::put(&cloud, dump.values().cloned()).await;
                table::put(&cloud, [with(row, attribute, value)]).await;
                record_all(&what).await;
                // With a corrupt marker, a minute counts as incomplete, so the recorder writes it again.
                if attribute == "rows" && key.0 == "bazaar#1m" {
                    assert_eq!(&table::dump(&cloud).await[key], row, "{what}");
                }
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// Puts one corrupt row at a time between two good ones. The history must have the good rows, and a warning
/// must name the attribute.
async fn expect_others(cloud: &Cloud, path: &str, rows: [&Row; 3], corrupt: Vec<(Row, &str)>) {
    let [one, good, other] = rows;
    let history = async |limit: usize| {
        let path = format!("{path}?limit={limit}");
        get_at(cloud, &path, START * 1_000).await.data()["history"].as_array().unwrap().clone()
    };
    table::put(cloud, [one.clone(), good.clone(), other.clone()]).await;
    let all = history(100).await;
    assert_eq!(all.len(), 3);
    for (number, (corrupt, attribute)) in corrupt.into_iter().enumerate() {
        let (partition, sort) = table::key(good);
        table::delete(cloud, &partition, &sort).await;
        table::put(cloud, [corrupt.clone()]).await;
        assert_eq!(history(number + 3).await, [all[0].clone(), all[2].clone()], "{corrupt:?}");
        expect_warning(cloud, table::key(&corrupt), attribute, number).await;
        let (partition, sort) = table::key(&corrupt);
        table::delete(cloud, &partition, &sort).await;
    }
    expect_clean_logs(cloud);
}

/// Returns two copies of the row for each attribute: without it, and with a value of another type.
fn without_each<'a>(good: &Row, attributes: &[&'a str]) -> Vec<(Row, &'a str)> {
    let spoiled = attributes.iter().flat_map(|attribute| {
        let mut without = good.clone();
        without.remove(*attribute);
        [(without, *attribute), (with(good, attribute, json!({"BOOL": true})), *attribute)]
    });
    spoiled.collect()
}

#[tokio::test]
async fn a_corrupt_mayor_hides_no_other() {
    let good = table::mayor(300);
    let mut corrupt = without_each(&good, &["name", "key", "perks"]);
    for perk in [json!({"S": "EZPZ"}), json!({"M": {"name": {"S": "EZPZ"}}})] {
        corrupt.push((with(&good, "perks", json!({"L": [perk]})), "perks"));
    }
    corrupt.push((with(&good, "sk", json!({"S": "0300x"})), "sk"));
    let rows = [&table::mayor(299), &good, &table::mayor(301)];
    expect_others(&start().await, "/v1/mayor/history", rows, corrupt).await;
}

#[tokio::test]
async fn a_corrupt_fire_sale_hides_no_other() {
    let sale = |number: i64| table::sale("A", START * 1_000 + number, START);
    let good = sale(2);
    let attributes = ["item_id", "start", "end", "amount", "price", "recorded_at", "seen_at"];
    let mut corrupt = without_each(&good, &attributes);
    corrupt.push((with(&good, "amount", json!({"N": "1.5"})), "amount"));
    corrupt.push((with(&good, "start", json!({"N": "5"})), "start"));
    let rows = [&sale(1), &good, &sale(3)];
    expect_others(&start().await, "/v1/fire-sales/history", rows, corrupt).await;
}
