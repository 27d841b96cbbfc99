//! The bazaar: `products`, by id.

use serde_json::{Value, json};

use super::fire_sales::event;
use super::table::{Field, Route, START, is_warning, texts};
use crate::support::{await_logs, expect_clean_logs, get_at, invoke, one_instance_each, start_with};

/// A price, which need not be whole.
const fn price(name: &'static str) -> Field {
    let good = &["0.1", "6.0E7", "1e12", "2.887645678129047E-11", "100"];
    let bad = &["-0.1", "-1", "1.1E12", "1e400", r#""5.5""#, "true", "{}", "[]", "[5.5]"];
    Field { name, usual: "5.5", optional: false, good, bad }
}

const PRODUCTS: Route = Route {
    path: "/v1/bazaar?mode=list",
    upstream: "/v2/skyblock/bazaar",
    fields: &[
        price("sellPrice"),
        price("buyPrice"),
        Field::count("sellVolume"),
        Field::count("buyVolume"),
        Field::count("sellMovingWeek"),
        Field::count("buyMovingWeek"),
    ],
    id: None,
    row: |id, fields| format!(r#""{id}":{{"product_id":"{id}","quick_status":{{{fields}}}}}"#),
    no_row: |id, value| format!(r#""{id}":{value}"#),
    body: |rows| format!(r#"{{"success":true,"lastUpdated":1777388578000,"products":{{{rows}}}}}"#),
    listed: |data| texts(&data["items"], "id"),
};

#[tokio::test]
async fn a_product_that_makes_no_sense_is_left_out() {
    PRODUCTS.expect_table().await;
}

#[tokio::test]
async fn the_bazaar_fails_only_if_most_products_make_no_sense() {
    PRODUCTS.expect_majority().await;
}

#[tokio::test]
async fn quick_status_must_be_an_object() {
    let cloud = start_with(one_instance_each()).await;
    let values = ["null", "5", r#""A""#, "[]", "{}", "true", "[5.5,5.5,7,7,7,7]"];
    for (number, value) in (0..).zip(values) {
        let odd = format!(r#""B":{{"product_id":"B","quick_status":{value}}}"#);
        PRODUCTS.show(&cloud, &[PRODUCTS.usual("A"), odd, PRODUCTS.usual("C")]);
        let now = START + number * 60_000;
        assert_eq!(texts(&get_at(&cloud, PRODUCTS.path, now).await.data()["items"], "id"), ["A", "C"]);
        get_at(&cloud, "/v1/bazaar?mode=item&id=B", now).await.error("NOT_FOUND");
        let full = get_at(&cloud, "/v1/bazaar", now).await;
        assert!(full.text.contains(&format!(r#""quick_status":{value}}}"#)), "{}", full.text);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_product_must_be_an_object() {
    let cloud = start_with(one_instance_each()).await;
    let odd = PRODUCTS.usual("B").replace(r#"{"product_id":"B","quick_status":"#, "[").replace("}}", "}]");
    PRODUCTS.show(&cloud, &[PRODUCTS.usual("A"), odd, PRODUCTS.usual("C")]);
    assert_eq!(texts(&get_at(&cloud, PRODUCTS.path, START).await.data()["items"], "id"), ["A", "C"]);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_product_without_orders_makes_sense() {
    let cloud = start_with(one_instance_each()).await;
    let none = PRODUCTS.usual("B").replace("5.5", "0.0").replace(":7", ":0");
    PRODUCTS.show(&cloud, &[none]);
    assert_eq!(get_at(&cloud, PRODUCTS.path, START).await.data(), json!({"count": 0, "items": []}));
    let item = get_at(&cloud, "/v1/bazaar?mode=item&id=B", START).await.data();
    assert_eq!((&item["sellPrice"], &item["buyVolume"]), (&json!(0.0), &json!(0)));
}

#[tokio::test]
async fn of_two_products_with_the_same_id_the_last_counts_in_every_mode() {
    let cloud = start_with(one_instance_each()).await;
    let priced = |price: &str| PRODUCTS.usual("B").replace("5.5", price);
    PRODUCTS.show(&cloud, &[priced("1.5"), PRODUCTS.usual("A"), priced("2.5")]);
    assert_eq!(texts(&get_at(&cloud, PRODUCTS.path, START).await.data()["items"], "id"), ["A", "B"]);
    let item = get_at(&cloud, "/v1/bazaar?mode=item&id=B", START).await.data();
    assert_eq!(item["sellPrice"], 2.5);
    // The JSON parser of this test takes the last, too.
    let full = get_at(&cloud, "/v1/bazaar", START).await.data();
    assert_eq!(full["products"]["B"]["quick_status"]["sellPrice"], 2.5);
    let line = await_logs(&cloud, 1, is_warning).await.remove(0);
    assert_eq!((&line["skipped"], &line["ids"]), (&json!(1), &json!("B")), "{line}");
    // Also if it makes no sense: the first must not come back.
    PRODUCTS.show(&cloud, &[priced("1.5"), PRODUCTS.usual("A"), PRODUCTS.usual("C"), priced("null")]);
    let later = START + 60_000;
    assert_eq!(texts(&get_at(&cloud, PRODUCTS.path, later).await.data()["items"], "id"), ["A", "C"]);
}

#[tokio::test]
async fn the_recorder_leaves_out_the_same_products() {
    let cloud = start_with(one_instance_each()).await;
    let usual = ["A", "B", "C", "D"].map(|id| PRODUCTS.usual(id));
    let odd = [
        PRODUCTS.usual("HALF\\ud800"),
        PRODUCTS.usual("NULL").replace("5.5", "null"),
        PRODUCTS.usual("NEGATIVE").replace(":7", ":-7"),
        r#""NONE":null"#.to_owned(),
    ];
    PRODUCTS.show(&cloud, &[&odd[..], &usual[..]].concat());
    assert_eq!(
        texts(&get_at(&cloud, PRODUCTS.path, START).await.data()["items"], "id"),
        ["A", "B", "C", "D"]
    );
    let line = await_logs(&cloud, 1, is_warning).await.remove(0);
    assert_eq!(line["skipped"], 4, "{line}");
    // Bytes pass through.
    let full = get_at(&cloud, "/v1/bazaar", START).await;
    assert!(full.text.contains(r#""HALF\ud800":{"#), "{}", full.text);
    let recorded = invoke(&cloud, "record-bazaar", event()).await.json();
    assert_eq!(recorded["recorded"]["products"], 4, "{recorded}");
    let is_recorders = |line: &Value| line["message"] == "invalid products are not recorded";
    let line = await_logs(&cloud, 1, is_recorders).await.remove(0);
    assert_eq!(line["count"], 4, "{line}");
    for id in ["NULL", "NEGATIVE", "NONE"] {
        get_at(&cloud, &format!("/v1/bazaar?mode=item&id={id}"), START).await.error("NOT_FOUND");
        let history =
            get_at(&cloud, &format!("/v1/bazaar/history?item_id={id}&range=1h"), START).await.data();
        assert_eq!(history["dataPoints"], 0, "{id}");
    }
    expect_clean_logs(&cloud);
}
