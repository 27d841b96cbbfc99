//! Every route responds in exactly the documented shape, with the values that follow from the upstream's response at that
//! moment. The tests derive the expected values a second time, as plainly as possible.

use std::collections::BTreeMap;
use std::time::Duration;

use local::{Cloud, Options};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use simulator::{auctions, bazaar, collections, election, fire_sales, items, names, profiles};

use crate::support::{expect_clean_logs, get, start, start_with, with_parameters};

/// The seed of the simulator that the tests' cloud starts.
const SEED: u64 = 1;

const HOUR_MS: i64 = 3_600_000;

/// How often a comparison is repeated because the upstream refreshed in the middle.
const ATTEMPTS: usize = 5;

/// An object whose values keep their spelling.
type Raw = BTreeMap<String, Box<RawValue>>;

/// Whether a product fits.
type Fits = fn(&Value) -> bool;

/// The name of a parameter, where it stands, and whether it is required.
type Parameter = (&'static str, &'static str, bool);

/// The type of a field.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Number,
    Truth,
    List,
    Object,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Integer => value.is_i64(),
            Self::Number => value.is_number(),
            Self::Truth => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

use Kind::{Integer, List, Number, Object, Text, Truth};

/// Panics unless `value` is an object with exactly these fields, of these types.
#[track_caller]
fn expect_shape(value: &Value, fields: &[(&str, Kind)]) {
    expect_fields(value, fields);
    assert_eq!(value.as_object().unwrap().len(), fields.len(), "{value}");
}

/// Panics unless `value` is an object with at least these fields, of these types.
#[track_caller]
fn expect_fields(value: &Value, fields: &[(&str, Kind)]) {
    for (name, kind) in fields {
        let field = value.get(name).unwrap_or_else(|| panic!("no {name} in {value}"));
        assert!(kind.fits(field), "{name} is not {kind:?}: {field}");
    }
}

#[track_caller]
fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is not a list: {}", value[name]))
}

#[track_caller]
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The field `name` of the object `text`, exactly as it is spelled there.
#[track_caller]
fn spelling(text: &str, name: &str) -> String {
    let mut object: Raw = serde_json::from_str(text).unwrap();
    object.remove(name).unwrap_or_else(|| panic!("no {name}")).get().to_owned()
}

/// Moves the clock forward to `moment_ms`.
#[track_caller]
fn move_to(cloud: &Cloud, moment_ms: i64) {
    let by = u64::try_from(moment_ms - cloud.clock().now_ms()).unwrap();
    cloud.clock().advance(Duration::from_millis(by));
}

/// Moves the clock just past a refresh that is more than `cache` away: the cache has expired, and the next refresh is as
/// far away as possible.
fn move_to_refresh(cloud: &Cloud, cache: Duration, refreshed_at: impl Fn(i64) -> i64) {
    let expired = cloud.clock().now_ms() + i64::try_from(cache.as_millis()).unwrap() + 1;
    let before = refreshed_at(expired);
    let mut moment = expired;
    while refreshed_at(moment) == before {
        moment += 500;
    }
    move_to(cloud, refreshed_at(moment));
}

/// The time of an upstream refresh, and the `data` of `paths` between it and the next refresh. The requests are sequential,
/// so that one instance serves them.
async fn at_one_refresh(
    cloud: &Cloud,
    cache: Duration,
    refreshed_at: impl Fn(i64) -> i64,
    paths: &[String],
) -> (i64, Vec<String>) {
    for _ in 0..ATTEMPTS {
        move_to_refresh(cloud, cache, &refreshed_at);
        let refresh = refreshed_at(cloud.clock().now_ms());
        let mut responses = Vec::new();
        for path in paths {
            let response = get(cloud, path).await;
            response.data();
            responses.push(spelling(&response.text, "data"));
        }
        if refreshed_at(cloud.clock().now_ms()) == refresh {
            return (refresh, responses);
        }
    }
    panic!("the upstream refreshed in the middle of each of {ATTEMPTS} attempts");
}

const BAZAAR_CACHE: Duration = Duration::from_secs(5);

async fn bazaar_responses(cloud: &Cloud, paths: &[String]) -> (Vec<Value>, Vec<Value>) {
    let (refresh, responses) = at_one_refresh(cloud, BAZAAR_CACHE, bazaar::refreshed_at, paths).await;
    let upstream = parsed(&bazaar::body(SEED, refresh));
    let products = upstream["products"].as_object().unwrap().values().cloned().collect();
    (products, responses.iter().map(|text| parsed(text)).collect())
}

fn price(product: &Value, side: &str) -> f64 {
    product["quick_status"][side].as_f64().unwrap()
}

fn volume(product: &Value, side: &str) -> i64 {
    product["quick_status"][side].as_i64().unwrap()
}

/// The documented form of a raw product (`functions/README.md`, Bazaar).
fn processed(product: &Value) -> Value {
    let status = &product["quick_status"];
    let (sell, buy) = (price(product, "sellPrice"), price(product, "buyPrice"));
    let spread = buy - sell;
    json!({
        "id": product["product_id"],
        "sellPrice": sell,
        "buyPrice": buy,
        "sellVolume": status["sellVolume"],
        "buyVolume": status["buyVolume"],
        "spread": spread,
        "spreadPercent": if sell > 0.0 { spread / sell * 100.0 } else { 0.0 },
        "sellMovingWeek": status["sellMovingWeek"],
        "buyMovingWeek": status["buyMovingWeek"],
    })
}

const PROCESSED_ITEM: [(&str, Kind); 9] = [
    ("id", Text),
    ("sellPrice", Number),
    ("buyPrice", Number),
    ("sellVolume", Integer),
    ("buyVolume", Integer),
    ("spread", Number),
    ("spreadPercent", Number),
    ("sellMovingWeek", Integer),
    ("buyMovingWeek", Integer),
];

#[tokio::test]
async fn the_full_bazaar_repeats_the_providers_products_byte_for_byte() {
    let cloud = start().await;
    for path in ["/v1/bazaar", "/v1/bazaar?mode=full"] {
        let paths = [path.to_owned()];
        let (refresh, responses) = at_one_refresh(&cloud, BAZAAR_CACHE, bazaar::refreshed_at, &paths).await;
        let products = spelling(&bazaar::body(SEED, refresh), "products");
        assert!(responses[0] == format!(r#"{{"lastUpdated":{refresh},"products":{products}}}"#), "{path}");
        let data = parsed(&responses[0]);
        expect_shape(&data, &[("lastUpdated", Integer), ("products", Object)]);
        let products = data["products"].as_object().unwrap();
        assert!(products.len() > 1_500);
        for (id, product) in products {
            assert_eq!(product["product_id"], **id);
            expect_fields(
                &product["quick_status"],
                &[
                    ("sellPrice", Number),
                    ("buyPrice", Number),
                    ("sellVolume", Integer),
                    ("buyVolume", Integer),
                    ("sellMovingWeek", Integer),
                    ("buyMovingWeek", Integer),
                    ("sellOrders", Integer),
                    ("buyOrders", Integer),
                ],
            );
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_list_has_the_ids_of_products_with_both_prices_in_order() {
    let cloud = start().await;
    let (products, responses) = bazaar_responses(&cloud, &["/v1/bazaar?mode=list".to_owned()]).await;
    let active = |product: &&Value| price(product, "sellPrice") > 0.0 && price(product, "buyPrice") > 0.0;
    let mut ids: Vec<&str> =
        products.iter().filter(active).map(|product| product["product_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.len() > 1_000 && ids.len() < products.len(), "{} of {}", ids.len(), products.len());
    expect_shape(&responses[0], &[("count", Integer), ("items", List)]);
    let items: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    assert_eq!(responses[0], json!({ "count": ids.len(), "items": items }));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_item_has_its_prices_its_volumes_and_its_spread() {
    let cloud = start().await;
    let upstream = parsed(&bazaar::body(SEED, cloud.clock().now_ms()));
    let products: Vec<&Value> = upstream["products"].as_object().unwrap().values().collect();
    let kinds: [(&str, Fits); 5] = [
        ("with two prices", |product| price(product, "sellPrice") > 0.0 && price(product, "buyPrice") > 0.0),
        ("without any price", |product| {
            price(product, "sellPrice") == 0.0 && price(product, "buyPrice") == 0.0
        }),
        ("without a sell price", |product| {
            price(product, "sellPrice") == 0.0 && price(product, "buyPrice") > 0.0
        }),
        ("without a buy price", |product| {
            price(product, "sellPrice") > 0.0 && price(product, "buyPrice") == 0.0
        }),
        ("with a colon in its id", |product| product["product_id"].as_str().unwrap().contains(':')),
    ];
    let examples = kinds.map(|(kind, fits)| {
        let example = products.iter().find(|product| fits(product));
        example.unwrap_or_else(|| panic!("no product {kind}"))["product_id"].as_str().unwrap()
    });
    let paths = examples.map(|id| format!("/v1/bazaar?mode=item&id={id}"));
    let (products, responses) = bazaar_responses(&cloud, &paths).await;
    for (id, item) in examples.iter().zip(&responses) {
        let product = products.iter().find(|product| product["product_id"] == **id).unwrap();
        expect_shape(item, &PROCESSED_ITEM);
        assert_eq!(*item, processed(product));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn flips_are_the_largest_spreads_of_expensive_and_traded_products() {
    let cloud = start().await;
    let paths =
        ["", "&limit=1", "&limit=7", "&limit=100"].map(|limit| format!("/v1/bazaar?mode=flips{limit}"));
    let (products, responses) = bazaar_responses(&cloud, &paths).await;
    let is_flip = |product: &&Value| {
        price(product, "sellPrice") >= 50_000.0
            && volume(product, "sellVolume") >= 10_000
            && volume(product, "buyVolume") >= 10_000
    };
    let mut flips: Vec<Value> = products.iter().filter(is_flip).map(processed).collect();
    let percent = |item: &Value| item["spreadPercent"].as_f64().unwrap();
    flips.sort_by(|a, b| {
        percent(b).total_cmp(&percent(a)).then_with(|| a["id"].as_str().cmp(&b["id"].as_str()))
    });
    assert!((20..=100).contains(&flips.len()), "{} flips do not test the limits", flips.len());
    for (response, limit) in responses.iter().zip([20, 1, 7, 100]) {
        expect_shape(response, &[("count", Integer), ("items", List)]);
        for item in list(response, "items") {
            expect_shape(item, &PROCESSED_ITEM);
        }
        let best = &flips[..flips.len().min(limit)];
        assert_eq!(*response, json!({ "count": best.len(), "items": best }), "limit {limit}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn many_items_are_in_the_order_of_the_request_and_unknown_ids_are_named() {
    let cloud = start().await;
    let paths = [
        "INK_SACK:3,X",
        "X,INK_SACK:3",
        "NOPE,X,x,X,NOPE,INK_SACK%3A3,X,%20X",
        "NOPE",
        // 97 of the game's products.
        &names_of_products(&bazaar::body(SEED, cloud.clock().now_ms()), 97),
    ]
    .map(|ids| format!("/v1/bazaar?mode=items&ids={ids}"));
    let (products, responses) = bazaar_responses(&cloud, &paths).await;
    let item = |id: &str| processed(products.iter().find(|product| product["product_id"] == *id).unwrap());
    let expected = |ids: &[&str], unknown: &[&str]| {
        let items: Vec<Value> = ids.iter().map(|id| item(id)).collect();
        json!({"count": ids.len(), "items": items, "unknown": unknown})
    };
    for response in &responses {
        expect_shape(response, &[("count", Integer), ("items", List), ("unknown", List)]);
        for item in list(response, "items") {
            expect_shape(item, &PROCESSED_ITEM);
        }
    }
    assert_eq!(responses[0], expected(&["INK_SACK:3", "X"], &[]));
    assert_eq!(responses[1], expected(&["X", "INK_SACK:3"], &[]));
    assert_eq!(responses[2], expected(&["X", "INK_SACK:3"], &["NOPE", "x", " X"]));
    assert_eq!(responses[3], expected(&[], &["NOPE"]));
    let ids: Vec<&str> = paths[4].split_once("ids=").unwrap().1.split(',').collect();
    assert_eq!(ids.len(), 97);
    assert_eq!(responses[4], expected(&ids, &[]));
    expect_clean_logs(&cloud);
}

/// The ids of some products in the provider's response, separated by commas.
fn names_of_products(body: &str, count: usize) -> String {
    let body = parsed(body);
    let ids: Vec<&str> = body["products"].as_object().unwrap().keys().map(String::as_str).collect();
    ids.iter().rev().step_by(7).take(count).copied().collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn a_book_has_the_orders_of_both_sides_under_the_names_of_what_they_are() {
    let cloud = start().await;
    let upstream = parsed(&bazaar::body(SEED, cloud.clock().now_ms()));
    let products: Vec<&Value> = upstream["products"].as_object().unwrap().values().collect();
    let count = |product: &Value, side: &str| product[side].as_array().unwrap().len();
    let kinds: [(&str, Fits); 5] = [
        ("with two full sides", |product| {
            ["sell_summary", "buy_summary"].iter().all(|side| product[side].as_array().unwrap().len() == 30)
        }),
        ("without any orders", |product| {
            ["sell_summary", "buy_summary"].iter().all(|side| product[side].as_array().unwrap().is_empty())
        }),
        ("without buy orders", |product| {
            product["sell_summary"] == json!([]) && product["buy_summary"] != json!([])
        }),
        ("without sell offers", |product| {
            product["sell_summary"] != json!([]) && product["buy_summary"] == json!([])
        }),
        ("with a colon in its id", |product| product["product_id"].as_str().unwrap().contains(':')),
    ];
    let examples = kinds.map(|(kind, fits)| {
        let example = products.iter().find(|product| fits(product));
        example.unwrap_or_else(|| panic!("no product {kind}"))["product_id"].as_str().unwrap()
    });
    let paths = examples.map(|id| format!("/v1/bazaar?mode=book&id={id}"));
    let (refresh, responses) = at_one_refresh(&cloud, BAZAAR_CACHE, bazaar::refreshed_at, &paths).await;
    let upstream = parsed(&bazaar::body(SEED, refresh));
    for (id, text) in examples.iter().zip(&responses) {
        let product = &upstream["products"][id];
        let book = parsed(text);
        let levels = |side: &str| -> Vec<Value> {
            let level = |level: &Value| json!({"price": level["pricePerUnit"], "amount": level["amount"], "orders": level["orders"]});
            product[side].as_array().unwrap().iter().map(level).collect()
        };
        let expected = json!({
            "id": id,
            "lastUpdated": refresh,
            "topBuyOrder": product["sell_summary"][0]["pricePerUnit"],
            "topSellOffer": product["buy_summary"][0]["pricePerUnit"],
            "buyOrders": levels("sell_summary"),
            "sellOffers": levels("buy_summary"),
            "sellPrice": product["quick_status"]["sellPrice"],
            "buyPrice": product["quick_status"]["buyPrice"],
        });
        assert_eq!(book, expected, "{id}");
        let keys = [
            "id",
            "lastUpdated",
            "topBuyOrder",
            "topSellOffer",
            "buyOrders",
            "sellOffers",
            "sellPrice",
            "buyPrice",
        ];
        let positions = keys.map(|key| text.find(&format!("\"{key}\":")).unwrap());
        assert!(positions.is_sorted(), "{text}");
        if count(product, "sell_summary") > 0 {
            assert!(text.contains(r#""buyOrders":[{"price":"#), "{text}");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn equal_flips_are_ordered_by_id_and_the_thresholds_are_inclusive() {
    let cloud = start().await;
    let product = |sell: f64, buy: f64, sell_volume: i64, buy_volume: i64| {
        json!({"quick_status": {
            "sellPrice": sell, "buyPrice": buy, "sellVolume": sell_volume, "buyVolume": buy_volume,
            "sellMovingWeek": 1, "buyMovingWeek": 2, "sellOrders": 3, "buyOrders": 4,
        }})
    };
    let body = json!({"success": true, "lastUpdated": 1, "products": {
        "TIE_B": product(60_000.0, 90_000.0, 10_000, 10_000),
        "TIE_A": product(80_000.0, 120_000.0, 20_000, 20_000),
        "TIE_C": product(50_000.0, 75_000.0, 10_000, 10_000),
        "BEST": product(50_000.0, 500_000.0, 10_000, 10_000),
        "LOSS": product(50_000.0, 0.0, 10_000, 10_000),
        "CHEAP": product(49_999.9, 500_000.0, 10_000, 10_000),
        "FEW_SOLD": product(50_000.0, 500_000.0, 9_999, 10_000),
        "FEW_BOUGHT": product(50_000.0, 500_000.0, 10_000, 9_999),
    }});
    let fault = simulator::Fault::status(200).with_body(body.to_string());
    cloud.simulator().unwrap().set_fault("/v2/skyblock/bazaar", fault);
    let data = get(&cloud, "/v1/bazaar?mode=flips").await.data();
    let percentages: Vec<(&str, f64)> = list(&data, "items")
        .iter()
        .map(|item| (item["id"].as_str().unwrap(), item["spreadPercent"].as_f64().unwrap()))
        .collect();
    let expected = [("BEST", 900.0), ("TIE_A", 50.0), ("TIE_B", 50.0), ("TIE_C", 50.0), ("LOSS", -100.0)];
    assert_eq!(percentages, expected);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_auctions_page_has_the_documented_fields_of_the_providers_auctions() {
    let cloud = start().await;
    for (page, path) in [(0, "/v1/auctions"), (0, "/v1/auctions?page=0"), (2, "/v1/auctions?page=2")] {
        let refreshed_at = |now_ms| auctions::refreshed_at(SEED, page, now_ms);
        let paths = [path.to_owned()];
        let (refresh, responses) =
            at_one_refresh(&cloud, Duration::from_secs(30), refreshed_at, &paths).await;
        let upstream = parsed(&auctions::Snapshot::new(SEED, refresh).page(page).unwrap());
        let data = parsed(&responses[0]);
        let head = [
            ("page", Integer),
            ("totalPages", Integer),
            ("totalAuctions", Integer),
            ("lastUpdated", Integer),
        ];
        expect_fields(&data, &head);
        for (name, _) in head {
            assert_eq!(data[name], upstream[name], "{name}");
        }
        assert_eq!(data["page"], page);
        assert_eq!(data["lastUpdated"], refresh);
        assert_eq!(data.as_object().unwrap().len(), 5);
        let fields = [
            ("uuid", Text),
            ("auctioneer", Text),
            ("item_name", Text),
            ("item_lore", Text),
            ("starting_bid", Integer),
            ("highest_bid_amount", Integer),
            ("bin", Truth),
            ("start", Integer),
            ("end", Integer),
        ];
        let (given, made) = (list(&upstream, "auctions"), list(&data, "auctions"));
        assert_eq!(made.len(), given.len());
        assert_eq!(made.len(), 1_000);
        for (given, made) in given.iter().zip(made) {
            expect_shape(made, &fields);
            for (name, _) in fields {
                assert_eq!(made[name], given[name], "{name}");
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn collections_repeat_the_provider_byte_for_byte() {
    let cloud = start().await;
    let cache = Duration::from_hours(1);
    let paths = ["/v1/collections".to_owned()];
    let (refresh, responses) = at_one_refresh(&cloud, cache, collections::refreshed_at, &paths).await;
    let upstream = spelling(&collections::body(SEED, refresh), "collections");
    assert_eq!(responses[0], format!(r#"{{"collections":{upstream}}}"#));
    let data = parsed(&responses[0]);
    let categories = data["collections"].as_object().unwrap();
    assert!(categories.len() > 3);
    for (key, category) in categories {
        assert_eq!(*key, key.to_uppercase());
        expect_shape(category, &[("name", Text), ("items", Object)]);
        for item in category["items"].as_object().unwrap().values() {
            expect_shape(item, &[("name", Text), ("maxTiers", Integer), ("tiers", List)]);
            for tier in list(item, "tiers") {
                expect_shape(tier, &[("tier", Integer), ("amountRequired", Integer), ("unlocks", List)]);
                assert!(list(tier, "unlocks").iter().all(Value::is_string), "{tier}");
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_item_catalogue_is_complete_and_an_item_without_tier_is_common() {
    let cloud = start().await;
    let paths = ["/v1/items".to_owned()];
    let (refresh, responses) =
        at_one_refresh(&cloud, Duration::from_hours(1), items::refreshed_at, &paths).await;
    let upstream = parsed(&items::body(SEED, refresh));
    let mut without_tier = 0;
    let made: Vec<Value> = list(&upstream, "items")
        .iter()
        .map(|item| {
            without_tier += usize::from(item.get("tier").is_none());
            let tier = item.get("tier").cloned().unwrap_or_else(|| json!("COMMON"));
            json!({"id": item["id"], "name": item["name"], "material": item["material"], "tier": tier})
        })
        .collect();
    assert!(without_tier > 500 && made.len() > 4_000, "{without_tier} of {}", made.len());
    let data = parsed(&responses[0]);
    expect_shape(&data, &[("items", List)]);
    assert_eq!(list(&data, "items").len(), made.len());
    for (item, expected) in list(&data, "items").iter().zip(&made) {
        expect_shape(item, &[("id", Text), ("name", Text), ("material", Text), ("tier", Text)]);
        assert_eq!(item, expected);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_mayor_is_the_current_one_with_and_without_an_election_and_a_minister() {
    let cloud = start().await;
    let next = election::seated_year(cloud.clock().now_ms()) + 1;
    let (mut with_minister, mut without_minister) = (false, false);
    // A special mayor, who has no minister, wins at least one of nine elections.
    for year in next..next + 9 {
        for moment in [election::closes_at(year), election::opens_at(year + 1)] {
            move_to(&cloud, moment);
            let text = election::body(SEED, moment);
            let upstream = parsed(&text);
            let response = get(&cloud, "/v1/mayor").await;
            let data = response.data();
            expect_shape(&data, &[("mayor", Object), ("current", Object), ("election", Object)]);
            expect_shape(&data["mayor"], &[("name", Text), ("key", Text), ("perks", List)]);
            let sitting = &upstream["mayor"];
            assert_eq!(data["mayor"]["name"], sitting["name"]);
            assert_eq!(data["mayor"]["key"], sitting["key"]);
            for perk in list(&data["mayor"], "perks") {
                expect_shape(perk, &[("name", Text), ("description", Text)]);
            }
            assert_eq!(data["mayor"]["perks"], sitting["perks"]);
            assert_eq!(data["election"]["year"], year, "the election that the mayor won");
            let data = spelling(&response.text, "data");
            let won = spelling(&spelling(&text, "mayor"), "election");
            assert_eq!(spelling(&data, "election"), won);
            let is_open = moment == election::opens_at(year + 1);
            assert_eq!(upstream.get("current").is_some(), is_open, "the simulator's booth");
            let current = if is_open { spelling(&text, "current") } else { "{}".to_owned() };
            assert_eq!(spelling(&data, "current"), current);
            let has_minister = sitting.get("minister").is_some();
            with_minister |= has_minister;
            without_minister |= !has_minister;
        }
    }
    assert!(with_minister && without_minister);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn fire_sales_are_those_of_the_provider_and_may_be_empty() {
    let cloud = start().await;
    let sales_at = |moment| list(&parsed(&fire_sales::body(SEED, moment)), "sales").clone();
    let mut hour = cloud.clock().now_ms() / HOUR_MS;
    for wants_sales in [true, false, true, false] {
        hour += 1;
        while sales_at(hour * HOUR_MS).is_empty() == wants_sales {
            hour += 1;
        }
        move_to(&cloud, hour * HOUR_MS);
        let data = get(&cloud, "/v1/fire-sales").await.data();
        expect_shape(&data, &[("sales", List)]);
        for sale in list(&data, "sales") {
            expect_shape(
                sale,
                &[
                    ("item_id", Text),
                    ("start", Integer),
                    ("end", Integer),
                    ("amount", Integer),
                    ("price", Integer),
                ],
            );
        }
        assert_eq!(*list(&data, "sales"), sales_at(hour * HOUR_MS));
        assert_eq!(list(&data, "sales").is_empty(), !wants_sales);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_profile_has_the_name_as_its_owner_spells_it_and_unchanged_members() {
    let cloud = start().await;
    let profiles_of = |name: &str| {
        let uuid = names::uuid(SEED, name).unwrap();
        parsed(&profiles::body(SEED, &uuid, cloud.clock().now_ms()))["profiles"].clone()
    };
    let selects = |name: &String| profiles_of(name).as_array().unwrap()[0].get("selected").is_some();
    let player = |selects_one: bool, respelt: bool| {
        let mut players = (0..).map(|number| format!("player_{number}"));
        let fits =
            |name: &String| selects(name) == selects_one && (names::spelling(SEED, name) != *name) == respelt;
        players.find(fits).unwrap()
    };
    // Requested in lower case, in capitals, and in the owner's own spelling.
    for (name, selects_one) in [
        (player(true, true), true),
        (player(true, true).to_uppercase(), true),
        (player(true, false), true),
        (player(false, true), false),
    ] {
        let uuid = names::uuid(SEED, &name).unwrap();
        let path = [format!("/v1/profile/{name}")];
        let cache = Duration::from_mins(15);
        let (refresh, responses) = at_one_refresh(&cloud, cache, profiles::refreshed_at, &path).await;
        let data = parsed(&responses[0]);
        expect_shape(&data, &[("uuid", Text), ("username", Text), ("profiles", List)]);
        assert_eq!(data["uuid"], uuid);
        assert!(uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uuid}");
        assert_eq!(data["username"], names::spelling(SEED, &name));
        let upstream = profiles::body(SEED, &uuid, refresh);
        let given: Vec<Raw> = serde_json::from_str(&spelling(&upstream, "profiles")).unwrap();
        let made: Vec<Raw> = serde_json::from_str(&spelling(&responses[0], "profiles")).unwrap();
        assert_eq!(made.len(), given.len());
        assert!(!made.is_empty());
        for (given, made) in given.iter().zip(&made) {
            let keys: Vec<&str> = made.keys().map(String::as_str).collect();
            assert_eq!(keys, ["cute_name", "members", "profile_id", "selected"]);
            for key in ["cute_name", "members", "profile_id"] {
                assert!(made[key].get() == given[key].get(), "{name}: {key}");
            }
            let selected = given.get("selected").map_or("false", |selected| selected.get());
            assert_eq!(made["selected"].get(), selected);
            assert_eq!(given.contains_key("selected"), selects_one);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_player_without_profiles_has_an_empty_list() {
    let cloud = start().await;
    let data = get(&cloud, "/v1/profile/NeverPlayed").await.data();
    let expected = json!({
        "uuid": names::uuid(SEED, names::NEVER_PLAYED),
        "username": names::spelling(SEED, names::NEVER_PLAYED),
        "profiles": [],
    });
    assert_eq!(data, expected);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_index_lists_every_route_with_its_cache_duration_and_parameters() {
    let mut options = Options::for_tests();
    let documentation = "https://example.org/docs";
    options.parameters.insert("DocumentationUrl".to_owned(), documentation.to_owned());
    let cloud = start_with(options).await;
    let data = get(&cloud, "/").await.data();
    expect_shape(
        &data,
        &[("name", Text), ("api_version", Text), ("documentation", Text), ("endpoints", List)],
    );
    assert_eq!(data["api_version"], "v1");
    assert_eq!(data["documentation"], documentation);
    // Copied from `functions/README.md`, Routes.
    let contract: [(&str, u64, &[Parameter]); 12] = [
        ("/v1/mayor", 300, &[]),
        ("/v1/mayor/history", 300, &[("limit", "query", false)]),
        ("/v1/fire-sales", 60, &[]),
        ("/v1/fire-sales/history", 300, &[("limit", "query", false)]),
        (
            "/v1/bazaar",
            5,
            &[
                ("mode", "query", false),
                ("id", "query", false),
                ("ids", "query", false),
                ("limit", "query", false),
            ],
        ),
        ("/v1/bazaar/history", 300, &[("item_id", "query", true), ("range", "query", false)]),
        (
            "/v1/bazaar/candles",
            300,
            &[
                ("item_id", "query", true),
                ("interval", "query", false),
                ("before", "query", false),
                ("limit", "query", false),
            ],
        ),
        ("/v1/auctions", 30, &[("page", "query", false)]),
        ("/v1/collections", 3_600, &[]),
        ("/v1/items", 3_600, &[]),
        ("/v1/profile/{username}", 900, &[("username", "path", true)]),
        ("/v1/status", 60, &[]),
    ];
    let endpoints = list(&data, "endpoints");
    assert_eq!(endpoints.len(), contract.len());
    assert_eq!(endpoints.len(), common::routes::VERSION_1.len());
    for (endpoint, (path, cache_seconds, parameters)) in endpoints.iter().zip(contract) {
        expect_shape(
            endpoint,
            &[
                ("method", Text),
                ("path", Text),
                ("summary", Text),
                ("cache_seconds", Integer),
                ("parameters", List),
            ],
        );
        assert_eq!(endpoint["method"], "GET");
        assert_eq!(endpoint["path"], path);
        assert_eq!(endpoint["cache_seconds"], cache_seconds, "{path}");
        assert_ne!(endpoint["summary"], "", "{path}");
        assert_eq!(list(endpoint, "parameters").len(), parameters.len(), "{path}");
        for (parameter, (name, place, required)) in list(endpoint, "parameters").iter().zip(parameters) {
            expect_shape(
                parameter,
                &[("name", Text), ("in", Text), ("required", Truth), ("description", Text)],
            );
            assert_eq!(parameter["name"], **name);
            assert_eq!(parameter["in"], **place);
            assert_eq!(parameter["required"], *required);
            assert_ne!(parameter["description"], "", "{name}");
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn without_a_documentation_url_the_index_points_to_the_api_reference() {
    let cloud = start().await;
    let index = get(&cloud, "/").await.data();
    assert_eq!(index["documentation"], "/docs");
    let reference = get(&cloud, "/docs").await;
    assert_eq!(
        (reference.status.as_u16(), reference.headers["content-type"].to_str().unwrap()),
        (200, "text/html; charset=utf-8")
    );
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn without_pages_the_index_points_to_the_api_description() {
    let cloud = start_with(with_parameters(Options::for_tests(), &[("Pages", "off")])).await;
    let index = get(&cloud, "/").await.data();
    let description = get(&cloud, index["documentation"].as_str().unwrap()).await;
    assert_eq!(description.status, 200);
    assert!(description.json()["openapi"].is_string());
    expect_clean_logs(&cloud);
}
