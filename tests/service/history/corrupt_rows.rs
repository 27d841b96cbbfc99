//! A corrupt row is skipped with a warning that names its key. All other rows are served.

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use super::market::{Market, quote};
use super::table::{self, Row, with};
use super::{HOUR, MINUTE, START, event, rfc3339, start};
use crate::auction_prices::house;
use crate::support::{RECORDERS, await_logs, expect_clean_logs, get_at, invoke, log_lines, simulator};

/// The history in the response of the route at the moment.
async fn history(cloud: &Cloud, path: &str, now: i64) -> Vec<Value> {
    let Value::Array(history) = get_at(cloud, path, now * 1_000).await.data()["history"].take() else {
        panic!("{path} has no history")
    };
    history
}

fn is_warning(line: &Value) -> bool {
    line["level"] == "WARN" && line["message"] == "a corrupt row is skipped"
}

/// Waits for the warning after `before` others, which must name this row and the attribute. Panics if there are more.
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
    let good = quote("1.0", "2.0", 3, 4);
    for minute in 0..3 {
        Market::of("A", good.clone()).record(&cloud, START + minute * MINUTE).await;
    }
    let (dump, second) = (table::dump(&cloud).await, (START + MINUTE).to_string());
    let row = dump
        .values()
        .find(|row| table::key(row).0.starts_with("bazaar#1m#") && row["sk"]["S"] == second.as_str())
        .unwrap();
    let numbers = |numbers: &[&str]| -> Value {
        let numbers: Vec<_> = numbers.iter().map(|number| json!({"N": number})).collect();
        json!({"M": {"A": {"L": numbers}}})
    };
    let cases = [
        ("a number for a quote", with(row, "products", json!({"M": {"A": {"N": "5"}}})), "products"),
        ("a text for a quote", with(row, "products", json!({"M": {"A": {"S": "1,2,3,4"}}})), "products"),
        ("null for a quote", with(row, "products", json!({"M": {"A": {"NULL": true}}})), "products"),
        ("an empty list", with(row, "products", numbers(&[])), "products"),
        ("three numbers", with(row, "products", numbers(&["1", "2", "3"])), "products"),
        ("five numbers", with(row, "products", numbers(&["1", "2", "3", "4", "5"])), "products"),
        ("a negative price", with(row, "products", numbers(&["-1", "2", "3", "4"])), "products"),
        ("a price beyond all", with(row, "products", numbers(&["1", "2E12", "3", "4"])), "products"),
        ("half a volume", with(row, "products", numbers(&["1", "2", "3.5", "4"])), "products"),
        ("a volume beyond all", with(row, "products", numbers(&["1", "2", "3", "9E30"])), "products"),
        ("a negative volume", with(row, "products", numbers(&["1", "2", "3", "-4"])), "products"),
        (
            "texts for numbers",
            with(
                row,
                "products",
                json!({"M": {"A": {"L": [{"S": "1"}, {"S": "2"}, {"S": "3"}, {"S": "4"}]}}}),
            ),
            "products",
        ),
    ];
    let mut now = START + 3 * MINUTE;
    let mut warnings = cases.len();
    for (number, (what, corrupt, attribute)) in cases.into_iter().enumerate() {
        table::put(&cloud, [corrupt.clone()]).await;
        cloud.kill("bazaar-history").await.unwrap();
        let points = super::chart::points(&cloud, "A", "1h", now).await;
        let expected = [START, START + 2 * MINUTE].map(rfc3339);
        assert_eq!(super::chart::times(&points), expected, "{what}");
        expect_warning(&cloud, table::key(&corrupt), attribute, number).await;
        now += MINUTE;
    }
    // Not a number, not a full minute, a tick outside its slot, and a spelling that no recorder writes.
    table::put(&cloud, [row.clone()]).await;
    for key in ["17773884x0", "1777388461", "1777388460#001", "1777388460#000"] {
        let stray = with(row, "sk", json!({"S": key}));
        table::put(&cloud, [stray.clone()]).await;
        cloud.kill("bazaar-history").await.unwrap();
        assert_eq!(super::chart::points(&cloud, "A", "1h", now).await.len(), 3, "{key}");
        expect_warning(&cloud, (table::key(row).0, key.to_owned()), "sk", warnings).await;
        let gone = json!({"TableName": table::NAME, "Key": {"pk": stray["pk"], "sk": stray["sk"]}});
        table::call(&cloud, "DeleteItem", &gone).await;
        warnings += 1;
        now += MINUTE;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_row_without_a_map_of_products_is_a_missing_point() {
    // DynamoDB returns only what the projection names, so such a row looks like a tick without the product.
    let cloud = start().await;
    for minute in 0..3 {
        Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START + minute * MINUTE).await;
    }
    let (dump, second) = (table::dump(&cloud).await, (START + MINUTE).to_string());
    let is_second = |row: &&Row| row["sk"]["S"] == second.as_str() && row.contains_key("products");
    let row = dump.values().find(is_second).unwrap();
    let mut without = row.clone();
    without.remove("products");
    for corrupt in
        [with(row, "products", json!({"S": "all"})), with(row, "products", json!({"L": []})), without]
    {
        table::put(&cloud, [corrupt]).await;
        cloud.kill("bazaar-history").await.unwrap();
        let points = super::chart::points(&cloud, "A", "1h", START + 3 * MINUTE).await;
        assert_eq!(super::chart::times(&points), [START, START + 2 * MINUTE].map(rfc3339));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_marker_does_not_stop_the_recorder() {
    let cloud = start().await;
    let market = Market::of("A", quote("1.0", "2.0", 3, 4));
    market.record(&cloud, START).await;
    let clean = table::dump(&cloud).await;
    for rows in [json!({"S": "soon"}), json!({"N": "1.5"}), json!({"NULL": true})] {
        let corrupt = with(&clean[&("bazaar#1m".to_owned(), START.to_string())], "rows", rows.clone());
        table::put(&cloud, [corrupt]).await;
        // The minute counts as incomplete.
        assert_eq!(market.record(&cloud, START).await["products"], 1, "{rows}");
        table::expect_same(&table::dump(&cloud).await, &clean, &rows.to_string());
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
            let now = if recorder == "record-candles" { built_at(5) } else { START };
            let response = invoke(&cloud, recorder, event(now)).await;
            let has_failed = response.headers.contains_key("x-amz-function-error");
            assert!(!has_failed, "{recorder}, {what}: {}", response.text);
        }
    };
    record_all("an empty table").await;
    let dump = table::dump(&cloud).await;
    assert_eq!(
        dump.len(),
        11,
        "minutes and candles with their markers, how far those and hours of auctions are built, a mayor, a sale, and prices of auctions with the lowest ones"
    );
    for (key, row) in &dump {
        for attribute in row.keys().filter(|name| !["pk", "sk"].contains(&name.as_str())) {
            for value in [json!({"S": "soon"}), json!({"N": "-1.5"}), json!({"NULL": true}), json!({"L": []})]
            {
                let what = format!("{key:?}: {attribute} is {value}");
                table::put(&cloud, dump.values().cloned()).await;
                table::put(&cloud, [with(row, attribute, value)]).await;
                record_all(&what).await;
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_mayor_hides_no_other() {
    let cloud = start().await;
    let mayor = |year: u32| {
        let perks = json!({"L": [{"M": {"name": {"S": "P"}, "description": {"S": "d"}}}]});
        let row = json!({
            "pk": {"S": "mayors"}, "sk": {"S": format!("{year:04}")},
            "name": {"S": format!("M{year}")}, "key": {"S": "k"}, "perks": perks,
        });
        row.as_object().unwrap().clone()
    };
    let good = mayor(300);
    let without = |attribute: &str| {
        let mut row = good.clone();
        row.remove(attribute);
        row
    };
    let perk = |perk: Value| {
        with(&good, "perks", json!({"L": [{"M": {"name": {"S": "a"}, "description": {"S": "b"}}}, perk]}))
    };
    let cases = [
        (without("name"), "name"),
        (with(&good, "name", json!({"N": "5"})), "name"),
        (without("key"), "key"),
        (with(&good, "key", json!({"L": []})), "key"),
        (without("perks"), "perks"),
        (with(&good, "perks", json!({"S": "EZPZ"})), "perks"),
        (with(&good, "perks", json!({"M": {}})), "perks"),
        (perk(json!({"S": "EZPZ"})), "perks"),
        (perk(json!({"M": {"name": {"S": "EZPZ"}}})), "perks"),
        (perk(json!({"M": {"name": {"S": "EZPZ"}, "description": {"N": "1"}}})), "perks"),
    ];
    table::put(&cloud, [mayor(299), mayor(301)]).await;
    for (number, (corrupt, attribute)) in cases.into_iter().enumerate() {
        table::put(&cloud, [corrupt.clone()]).await;
        let path = format!("/v1/mayor/history?limit={}", number + 3);
        let history = history(&cloud, &path, START).await;
        let names: Vec<_> = history.iter().map(|mayor| mayor["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["M301", "M299"], "{corrupt:?}");
        expect_warning(&cloud, table::key(&corrupt), attribute, number).await;
    }
    let misplaced = with(&good, "sk", json!({"S": "0300x"}));
    table::put(&cloud, [good, misplaced.clone()]).await;
    assert_eq!(history(&cloud, "/v1/mayor/history?limit=50", START).await.len(), 3);
    expect_warning(&cloud, table::key(&misplaced), "sk", 10).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_fire_sale_hides_no_other() {
    let cloud = start().await;
    let sale = |number: i64| {
        let start = START * 1_000 + number;
        let row = json!({
            "pk": {"S": "fire-sales"}, "sk": {"S": format!("{start}#A")}, "item_id": {"S": "A"},
            "start": {"N": start.to_string()}, "end": {"N": start.to_string()}, "amount": {"N": number.to_string()},
            "price": {"N": "5"}, "recorded_at": {"N": START.to_string()}, "seen_at": {"N": START.to_string()},
        });
        row.as_object().unwrap().clone()
    };
    let good = sale(2);
    let mut cases = Vec::new();
    for attribute in ["item_id", "start", "end", "amount", "price", "recorded_at", "seen_at"] {
        let mut without = good.clone();
        without.remove(attribute);
        cases.push((without, attribute));
        let other = if attribute == "item_id" { json!({"N": "5"}) } else { json!({"S": "5"}) };
        cases.push((with(&good, attribute, other), attribute));
        if attribute != "item_id" {
            cases.push((with(&good, attribute, json!({"N": "1.5"})), attribute));
        }
    }
    cases.push((with(&good, "start", json!({"N": "5"})), "start"));
    table::put(&cloud, [sale(1), sale(3)]).await;
    for (number, (corrupt, attribute)) in cases.into_iter().enumerate() {
        table::put(&cloud, [corrupt.clone()]).await;
        let history = history(&cloud, &format!("/v1/fire-sales/history?limit={}", number + 3), START).await;
        let amounts: Vec<_> = history.iter().map(|sale| sale["amount"].as_i64().unwrap()).collect();
        assert_eq!(amounts, [3, 1], "{corrupt:?}");
        expect_warning(&cloud, table::key(&corrupt), attribute, number).await;
    }
    table::put(&cloud, [good]).await;
    assert_eq!(history(&cloud, "/v1/fire-sales/history", START + HOUR).await.len(), 3);
    expect_clean_logs(&cloud);
}

/// The minute at which the candles of this many minutes from `START` on are built.
fn built_at(minutes: i64) -> i64 {
    START + (minutes + 2) * MINUTE
}

#[tokio::test]
async fn a_corrupt_key_ends_no_list_of_candles() {
    let cloud = start().await;
    for minute in [0, 5, 10] {
        Market::of("A", quote(10, 20, 3, 4)).record(&cloud, START + minute * MINUTE).await;
    }
    invoke(&cloud, "record-candles", event(built_at(15))).await;
    let dump = table::dump(&cloud).await;
    let row = dump.values().find(|row| table::key(row).0.starts_with("candles#5m#")).unwrap();
    let corrupt = |minute: i64| with(row, "sk", json!({"S": format!("{}x", START + minute * MINUTE)}));
    table::put(&cloud, [corrupt(0), corrupt(5)]).await;
    let (mut opened_at, mut before) = (Vec::new(), rfc3339(START + 15 * MINUTE));
    loop {
        let path = format!("/v1/bazaar/candles?item_id=A&interval=5m&limit=1&before={before}");
        let data = get_at(&cloud, &path, built_at(15) * 1_000).await.data();
        let candles = data["candles"].as_array().unwrap();
        opened_at.extend(candles.iter().map(|candle| candle["opened_at"].clone()));
        let Some(next) = data["next_before"].as_str() else { break };
        before = next.to_owned();
    }
    assert_eq!(opened_at, [10, 5, 0].map(|minute| rfc3339(START + minute * MINUTE)));
}
