//! Every fire sale is in the history once, with its latest data and the time of its first recording.

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use super::table::{self, Dump};
use super::{HOUR, MINUTE, START, record, rfc3339, start};
use crate::support::{await_logs, expect_clean_logs, get_at, simulator};

const RECORDER: &str = "record-fire-sales";
const FIRE_SALES: &str = "/v2/skyblock/firesales";

/// The start of the sales, in Unix milliseconds.
const BEGINS: i64 = (START + HOUR) * 1_000;

/// A sale as the provider lists it.
fn sale(item_id: &str, start: i64, amount: i64, price: i64) -> Value {
    json!({"item_id": item_id, "start": start, "end": start + 1_000, "amount": amount, "price": price})
}

fn show(cloud: &Cloud, sales: &[Value]) {
    let body = json!({"success": true, "sales": sales}).to_string();
    simulator(cloud).set_fault(FIRE_SALES, Fault::default().with_body(body));
}

/// Records the sales at the tick, and returns the number of changed rows.
async fn record_sales(cloud: &Cloud, sales: &[Value], tick: i64) -> u64 {
    show(cloud, sales);
    let recorded = record(cloud, RECORDER, tick).await;
    assert_eq!(recorded["shown"], sales.len(), "{recorded}");
    recorded["changed"].as_u64().unwrap()
}

/// Requests the history. Panics if the response comes from the cache, so a test may request each limit only
/// once.
async fn history(cloud: &Cloud, limit: usize) -> Vec<Value> {
    let response = get_at(cloud, &format!("/v1/fire-sales/history?limit={limit}"), START * 1_000).await;
    assert!(!response.cached(), "this limit was requested before");
    let mut data = response.data();
    assert_eq!(data.as_object().unwrap().len(), 1, "{data}");
    let Value::Array(history) = data["history"].take() else { panic!("{data}") };
    history
}

/// The entry of a sale that was first recorded at the tick.
fn entry(sale: &Value, tick: i64) -> Value {
    json!({
        "item_id": sale["item_id"],
        "amount": sale["amount"],
        "price": sale["price"],
        "recorded_at": rfc3339(tick),
    })
}

#[tokio::test]
async fn a_response_has_the_documented_fields() {
    let cloud = start().await;
    record_sales(&cloud, &[sale("PET_SKIN_É \"x\"", BEGINS, 3_000_000_000, 600)], START).await;
    let response = get_at(&cloud, "/v1/fire-sales/history", START * 1_000).await;
    let entry = r#"{"item_id":"PET_SKIN_É \"x\"","amount":3000000000,"price":600,"recorded_at":"2026-04-28T15:00:00Z"}"#;
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    assert_eq!(response.text, format!(r#"{{"success":true,"data":{{"history":[{entry}]}},"meta":{meta}}}"#));
    response.data();
}

#[tokio::test]
async fn sales_in_any_order_and_repeated_leave_one_row_each_with_the_first_time_and_the_latest_data() {
    let cloud = start().await;
    // The same item has a second sale a millisecond later.
    let shown = |seen: i64| {
        let mut corrected = sale("SKIN", BEGINS, seen * 100, seen);
        corrected["end"] = json!(BEGINS + seen * 1_000);
        [corrected, sale("SKIN", BEGINS + 1, 501, 101)]
    };
    let mut order = [1, 2, 3, 4];
    let mut random = fastrand::Rng::with_seed(3);
    let mut in_order: Option<Dump> = None;
    for round in 0..8 {
        table::clear(&cloud).await;
        for seen in order {
            record_sales(&cloud, &shown(seen), START + seen * MINUTE).await;
            // Repeating the event changes nothing, even if the provider has refreshed.
            assert_eq!(record_sales(&cloud, &shown(9), START + seen * MINUTE + 59).await, 0);
        }
        assert_eq!(record_sales(&cloud, &[], START + HOUR).await, 0);
        let dump = table::dump(&cloud).await;
        let expected = in_order.get_or_insert_with(|| dump.clone());
        table::expect_same(&dump, expected, &format!("{order:?}"));
        assert!(dump.values().any(|row| row["end"] == json!({"N": (BEGINS + 4_000).to_string()})));
        let [latest, other] = shown(4);
        let first = START + MINUTE;
        assert_eq!(history(&cloud, 2 + round).await, [entry(&other, first), entry(&latest, first)]);
        if round == 0 { order.reverse() } else { random.shuffle(&mut order) }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_invalid_sale_is_left_out_with_a_warning() {
    let cloud = start().await;
    let too_long = "x".repeat(257);
    let longest = "x".repeat(256);
    let bad = [
        sale(&too_long, BEGINS, 1, 1),
        sale("LATE", 10_000_000_000_000, 1, 1),
        json!({"item_id": "B"}),
        json!(null),
    ];
    let good = [sale("#A \u{1f525}", BEGINS, 1, 1), sale(&longest, BEGINS, 0, 0)];
    let mut sales = vec![good[0].clone()];
    sales.extend(bad.iter().cloned());
    sales.push(good[1].clone());
    assert_eq!(record_sales(&cloud, &sales, START).await, 2);
    assert_eq!(history(&cloud, 10).await, [entry(&good[1], START), entry(&good[0], START)]);
    let is_warning = |line: &Value| line["message"] == "invalid fire sales are not recorded";
    let warning = await_logs(&cloud, 1, is_warning).await.remove(0);
    assert_eq!((&warning["level"], &warning["count"]), (&json!("WARN"), &json!(bad.len())));
    // The log has only the reason of the first row that cannot be read.
    assert!(warning["first"].as_str().unwrap().contains("missing field"), "{warning}");
    expect_clean_logs(&cloud);
}
