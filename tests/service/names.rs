//! `GET /v1/names` and `/names.json` name every id that has a price, from a list that is written once an hour
//! and served for a day.

use std::collections::{BTreeMap, BTreeSet};

use common::error::INTERNAL_MESSAGE;
use common::time::UnixSeconds;
use hyper::StatusCode;
use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;
use tables::names::names_of;

use crate::candles::build;
use crate::history::table::{delete, dump};
use crate::history::{DAY, HOUR, MINUTE, START, record, record_auctions, rfc3339, start};
use crate::public_files;
use crate::support::{await_logs, get_at, line_of, record_names, simulator, start_with, store_day};

const PATH: &str = "/v1/names";
const CATALOGUE: &str = "/v2/resources/skyblock/items";

async fn names(cloud: &Cloud, time: i64) -> Value {
    get_at(cloud, PATH, time * 1_000).await.data()
}

fn ids(list: &Value) -> BTreeSet<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_id_with_a_price_has_a_name_without_codes() {
    let cloud = start_with(public_files::options()).await;
    record_auctions(&cloud, START).await;
    record(&cloud, "record-bazaar", START).await;
    build(&cloud, START).await;
    let data = names(&cloud, START).await;
    let items = data["items"].as_array().unwrap();
    assert_eq!((&data["updated_at"], &data["count"]), (&json!(rfc3339(START)), &json!(items.len())));
    for item in items {
        let name = item["name"].as_str().unwrap();
        let has_codes =
            name.contains(['§', '_', ':']) || name.contains("%%") || name.contains(char::is_control);
        assert!(!name.is_empty() && !has_codes, "{item}");
    }
    for (market, path) in [("bazaar", "/v1/bazaar?mode=prices"), ("auctions", "/v1/auctions/prices")] {
        let prices = get_at(&cloud, path, START * 1_000).await.data();
        let named = items.iter().filter(|item| item["market"] == market);
        let named: BTreeSet<_> = named.map(|item| item["id"].as_str().unwrap()).collect();
        assert!(named.len() > 1_000 && named.is_subset(&ids(&prices)), "{market}");
        // Products without any order have no price.
        let has_price = |item: &&Value| item["lowest"].is_number() || item["topSellOffer"].is_number();
        let with_price = prices["items"].as_array().unwrap().iter().filter(has_price);
        assert!(with_price.map(|item| item["id"].as_str().unwrap()).all(|id| named.contains(id)), "{market}");
    }
    let of = |id: &str| items.iter().find(|item| item["id"] == id).unwrap();
    let cocoa = json!({
        "id": "INK_SACK:3", "name": "Cocoa Beans", "market": "bazaar", "kind": "item", "other_id": "INK_SACK-3", "aliases": ["cocoa"],
    });
    assert_eq!(of("INK_SACK:3"), &cocoa);
    let dragon = json!({"id": "GOLDEN_DRAGON;4", "name": "Golden Dragon (Legendary)", "market": "auctions", "kind": "pet", "aliases": ["gdrag"]});
    assert_eq!(of("GOLDEN_DRAGON;4"), &dragon);
    assert_eq!(public_files::get(&cloud, "/names.json").await.json(), data);
}

#[tokio::test]
async fn names_of_both_markets_are_written_once_an_hour_and_stay_while_the_provider_fails() {
    let cloud = start().await;
    simulator(&cloud).clear_faults();
    let first = START - START % HOUR + 2 * MINUTE;
    record(&cloud, "record-bazaar", first - MINUTE).await;
    build(&cloud, first - MINUTE).await;
    // The first names have no auctions, so they do not count as the names of this hour, and no instance keeps
    // them.
    assert!(!names(&cloud, first - MINUTE).await.to_string().contains("\"auctions\""));
    record_auctions(&cloud, first).await;
    build(&cloud, first).await;
    build(&cloud, first + 5 * MINUTE).await;
    let written = names(&cloud, first + 5 * MINUTE).await;
    assert_eq!(written["updated_at"], rfc3339(first));

    simulator(&cloud).set_fault(CATALOGUE, Fault::status(500));
    build(&cloud, first + HOUR).await;
    assert_eq!(names(&cloud, first + 2 * HOUR).await, written);
    simulator(&cloud).set_fault(CATALOGUE, Fault::default());
    build(&cloud, first + HOUR + 5 * MINUTE).await;
    assert_eq!(names(&cloud, first + 4 * HOUR).await["updated_at"], rfc3339(first + HOUR + 5 * MINUTE));
}

#[tokio::test]
async fn names_are_served_for_a_day() {
    let items = names_of(&["COAL".to_owned()].into(), &["HYPERION".to_owned()].into(), &BTreeMap::default());
    for is_cached in [false, true] {
        let cloud = start().await;
        simulator(&cloud).clear_faults();
        let expect_none = async |time: i64| {
            let response = get_at(&cloud, PATH, time * 1_000).await;
            assert_eq!(response.status, StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(response.error("INTERNAL_ERROR"), INTERNAL_MESSAGE);
            let line = line_of(&cloud, &response).await;
            assert_eq!(line["cause"], "no run of record-candles has written names for a day");
        };
        expect_none(START).await;
        record_names(&cloud, START * 1_000, &items).await;
        if is_cached {
            names(&cloud, START + DAY - MINUTE).await;
        }
        assert_eq!(names(&cloud, START + DAY).await["count"], 2);
        expect_none(START + DAY + 1).await;
        // Newer names are served at once, although an instance has the older ones in its cache.
        record_names(&cloud, (START + DAY) * 1_000, &items).await;
        assert_eq!(names(&cloud, START + DAY + 1).await["updated_at"], rfc3339(START + DAY));
    }
}

#[tokio::test]
async fn a_past_day_that_lacks_a_row_does_not_stop_names() {
    let cloud = start().await;
    store_day(&cloud, UnixSeconds::new(START - 2 * DAY)).await;
    let rows = dump(&cloud).await;
    let (partition, sort) = rows.keys().find(|(partition, _)| partition.starts_with("candles#1d#")).unwrap();
    delete(&cloud, partition, sort).await;
    record(&cloud, "record-bazaar", START).await;
    build(&cloud, START + 5 * MINUTE).await;
    let is_warning = |line: &Value| line["message"] == "names lack the ids of a corrupt source";
    let warnings = await_logs(&cloud, 1, is_warning).await;
    assert!(warnings[0]["cause"].as_str().unwrap().contains("1 of its 1 rows are missing"), "{warnings:?}");
    assert_eq!(names(&cloud, START + 5 * MINUTE).await["updated_at"], rfc3339(START + 5 * MINUTE));
}
