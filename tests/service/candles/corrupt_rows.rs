//! A corrupt row of candles is skipped with a warning that names its key, and affects no other candle.

use serde_json::{Value, json};

use super::pages::walk;
use super::{READER, build, candles, copies, get_page, interval, only_row};
use crate::history::corrupt_rows::expect_warning;
use crate::history::market::{Market, quote};
use crate::history::table::{self, Row, with};
use crate::history::{MINUTE, START, start};
use crate::support::{await_logs, expect_clean_logs};

#[tokio::test]
async fn a_corrupt_candle_hides_no_other() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    build(&cloud, START + 62 * MINUTE).await;
    let row = only_row(&candles(&cloud).await, interval("5m")).clone();
    let five = 5 * MINUTE;
    table::put(&cloud, copies(&row, [START + five, START + 2 * five])).await;
    let text = |text: &str| json!({"M": {"A": {"S": text}}});
    let second = copies(&row, [START + five]).next().unwrap();
    let cases = [
        json!({"M": {"A": {"L": [{"N": "1"}]}}}),
        text(""),
        text("1,1,1,1,2,2,2,2,3,4"),
        // The last number is the number of minutes without a price at the end: all five minutes.
        text("1,1,1,1,2,2,2,2,3,4,1,5"),
        // An open above the high.
        text("2,1,1,1,2,2,2,2,3,4,1"),
        text("NaN,NaN,NaN,NaN,2,2,2,2,3,4,1"),
        text("1,1,1,1,2,2,2,2,3,4,0"),
    ];
    for (number, products) in cases.into_iter().enumerate() {
        let corrupt = with(&second, "products", products);
        table::put(&cloud, [corrupt.clone()]).await;
        cloud.kill(READER).await.unwrap();
        let shown = get_page(&cloud, "A", interval("5m"), "", START + 60 * MINUTE).await;
        assert_eq!(shown.times(), [START, START + 2 * five], "{corrupt:?}");
        expect_warning(&cloud, table::key(&corrupt), "products", number).await;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_row_with_a_corrupt_key_shows_no_candle_twice_and_ends_no_list() {
    let cloud = start().await;
    for minute in [0, 1, 6] {
        Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, START + minute * MINUTE).await;
    }
    let now = START + 7 * MINUTE;
    build(&cloud, now).await;
    let row = only_row(&candles(&cloud).await, interval("5m")).clone();
    // The corrupt keys sort after the key of the built candle, so a query reads the corrupt row first.
    for key in ["1777388401", "1777388400x", "1777388400#001", "177738840x"] {
        table::put(&cloud, [with(&row, "sk", json!({"S": key}))]).await;
        cloud.kill(READER).await.unwrap();
        let shown = get_page(&cloud, "A", interval("5m"), "", now).await;
        let candles: Vec<_> = shown.candles.iter().map(|candle| (candle.samples, candle.complete)).collect();
        assert_eq!(candles, [(2, true), (1, false)], "{key}");
        let (times, _) = walk(&cloud, interval("5m"), "&limit=1", now, now).await;
        assert_eq!(times, shown.times(), "{key}");
        table::delete(&cloud, &table::key(&row).0, key).await;
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_corrupt_source_is_left_out_of_a_candle_with_a_warning() {
    let cloud = start().await;
    for minute in [0, 1, 2] {
        let market = Market::of("A", quote(minute + 1, "2.0", 3, 4)).with("B", quote("1.0", "2.0", 3, 4));
        market.record(&cloud, START + minute * MINUTE).await;
    }
    let dump = table::dump(&cloud).await;
    let row_of_a = |minute: i64| {
        let slot = (START + minute * MINUTE).to_string();
        let has_a = |row: &Row| row.get("products").is_some_and(|products| products["M"].get("A").is_some());
        dump.values().find(|row| row["sk"]["S"] == slot.as_str() && has_a(row)).unwrap()
    };
    let corrupt = with(row_of_a(1), "products", json!({"N": "5"}));
    let mut products = row_of_a(2)["products"].clone();
    products["M"]["C"] = json!({"N": "5"});
    products["M"]["no id"] = products["M"]["A"].clone();
    let odd = with(row_of_a(2), "products", products);
    table::put(&cloud, [corrupt.clone(), odd.clone()]).await;
    build(&cloud, START + 7 * MINUTE).await;
    expect_warning(&cloud, table::key(&corrupt), "products", 0).await;
    let is_warning = |line: &Value| line["message"] == "corrupt products of a row are skipped";
    let warning = await_logs(&cloud, 1, is_warning).await.pop().unwrap();
    assert_eq!((&warning["sort_key"], &warning["products"]), (&odd["sk"]["S"], &json!(2)), "{warning}");
    for (id, samples) in [("A", 2), ("B", 3)] {
        let shown = get_page(&cloud, id, interval("5m"), "", START + 7 * MINUTE).await;
        assert_eq!(shown.candles[0].samples, samples, "{id}");
    }
    expect_clean_logs(&cloud);
}
