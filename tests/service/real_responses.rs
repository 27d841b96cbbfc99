//! The service's responses follow exactly from captures of the provider's real responses.

use std::time::Duration;

use local::Cloud;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use simulator::Fault;

use crate::oracle::{BazaarFacts, Facts, Source, spelled};
use crate::support::{
    FLIPS, expect_clean_logs, get, one_instance_each, passing_examples, simulator, start_with,
};

const BAZAAR: &str = "bazaar/v2-20260428T1503Z.json";
const OLD_BAZAAR: &str = "bazaar/v1-20210419T1337Z.json";

async fn start() -> Cloud {
    start_with(one_instance_each()).await
}

#[track_caller]
fn text(name: &str) -> String {
    captures::text(name).unwrap_or_else(|| panic!("there is no capture {name}"))
}

#[track_caller]
fn capture(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// Makes the upstream respond to `path` with the capture.
#[track_caller]
fn serve(cloud: &Cloud, path: &str, name: &str) {
    simulator(cloud).set_fault(path, Fault::default().with_body(text(name)));
}

/// Whether two values are equal. Numbers with different spellings can be equal.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
        }
        _ => a == b,
    }
}

#[track_caller]
fn expect_same(data: &Value, expected: &Value, what: &str) {
    if same(data, expected) {
        return;
    }
    // The data has megabytes, so this reports only the first different field.
    if let (Value::Object(data), Value::Object(expected)) = (data, expected) {
        assert_eq!(data.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
        for (key, value) in expected {
            expect_same(&data[key], value, &format!("{what}.{key}"));
        }
    }
    if let (Value::Array(data), Value::Array(expected)) = (data, expected) {
        assert_eq!(data.len(), expected.len(), "{what}");
        for (position, (entry, expected)) in data.iter().zip(expected).enumerate() {
            expect_same(entry, expected, &format!("{what}[{position}]"));
        }
    }
    panic!("{what} is {data}, not {expected}");
}

/// The number `field` of the product `id`, exactly as in the capture.
fn digits<'a>(capture: &'a str, id: &str, field: &str) -> &'a str {
    let status = capture.find(&format!(r#""productId": "{id}""#)).unwrap();
    let (_, rest) = capture[status..].split_once(&format!("\"{field}\": ")).unwrap();
    rest.split([',', '}']).next().unwrap()
}

async fn get_data(cloud: &Cloud, path: &str) -> Value {
    get(cloud, path).await.data()
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn every_mode_of_the_bazaar_follows_from_the_real_products() {
    for name in [BAZAAR, OLD_BAZAAR] {
        let cloud = start().await;
        serve(&cloud, "/v2/skyblock/bazaar", name);
        let market = BazaarFacts::of(&text(name));

        let full = get(&cloud, "/v1/bazaar").await;
        full.data();
        assert!(spelled(&full.text, "data") == market.full, "mode=full of {name} differs from the capture");

        let list = market.list();
        assert!(list["items"].as_array().unwrap().len() > 200);
        expect_same(&get_data(&cloud, "/v1/bazaar?mode=list").await, &list, name);
        for (parameters, limit, rules) in FLIPS {
            let data = get_data(&cloud, &format!("/v1/bazaar?mode=flips{parameters}")).await;
            expect_same(&data, &market.flips(limit, rules), parameters);
        }
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_prices_of_every_real_product_keep_every_digit() {
    let cloud = start().await;
    serve(&cloud, "/v2/skyblock/bazaar", BAZAAR);
    let raw = text(BAZAAR);
    let products = BazaarFacts::of(&raw).products;
    let sample = products.keys().map(String::as_str).step_by(15);
    let awkward =
        ["INK_SACK:3", "LOG:2", "RAW_FISH:1", "X", "Y", "Z", "ENCHANTED_DIAMOND", "MOONGLADE_JEWEL"];
    let mut without_orders = 0;
    for id in sample.chain(awkward) {
        let product = products.get(id).unwrap_or_else(|| panic!("{id} is not in the capture"));
        let data = get_data(&cloud, &format!("/v1/bazaar?mode=item&id={id}")).await;
        expect_same(&data, product, id);
        for field in ["sellPrice", "buyPrice"] {
            let exact: f64 = digits(&raw, id, field).parse().unwrap();
            let served = data[field].as_f64().unwrap();
            assert_eq!(served.to_bits(), exact.to_bits(), "{field} of {id}: {served}, not {exact}");
        }
        without_orders += u32::from(product["sellPrice"] == 0.0);
    }
    assert!(without_orders > 5, "the sample must have products without buy orders");
}

/// For each capture, the products whose average sell price is above their highest buy order, and the products whose average buy price is
/// below their lowest sell offer. Differences of at most a hundredth of a coin do not count. The provider updates orders and averages
/// separately.
const INCONSISTENT: [(&str, &[&str], &[&str]); 2] = [
    (
        BAZAAR,
        &["AUTO_SMELTER", "ENCHANTED_MANGROVE_LOG", "ROUGH_CITRINE_GEM", "SHARD_ANANKE", "SUSPICIOUS_SCRAP"],
        &["ENCHANTMENT_ABSORB_1", "SHARD_AERO", "SHARD_NESSIE"],
    ),
    (OLD_BAZAAR, &["ENCHANTED_NETHER_STALK"], &["ENCHANTED_GRILLED_PORK"]),
];

/// An instant sale fills the highest buy orders first, so its average price is at most the highest order. An instant purchase takes the
/// lowest sell offers first. If the sides were swapped, most products would be in [`INCONSISTENT`].
#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_book_of_every_real_product_has_its_orders_on_the_right_side() {
    for (name, sales_above, purchases_below) in INCONSISTENT {
        let cloud = start().await;
        serve(&cloud, "/v2/skyblock/bazaar", name);
        let market = BazaarFacts::of(&text(name));
        let mut above = Vec::new();
        let mut below = Vec::new();
        let mut both = 0;
        let mut empty = 0;
        let mut most = 0;
        for (id, product) in &market.products {
            let data = get_data(&cloud, &format!("/v1/bazaar?mode=book&id={id}")).await;
            expect_same(&data, &market.book(id).unwrap(), id);
            let prices = |side: &str| -> Vec<f64> {
                data[side].as_array().unwrap().iter().map(|level| level["price"].as_f64().unwrap()).collect()
            };
            let buy_orders = prices("buyOrders");
            let sell_offers = prices("sellOffers");
            assert!(buy_orders.is_sorted_by(|one, other| one > other), "{id}");
            assert!(sell_offers.is_sorted_by(|one, other| one < other), "{id}");
            most = most.max(buy_orders.len()).max(sell_offers.len());
            let tops = (data["topBuyOrder"].as_f64(), data["topSellOffer"].as_f64());
            if let (Some(buy_order), Some(sell_offer)) = tops {
                // In both captures, no buy order is above a sell offer of the same product.
                assert!(buy_order <= sell_offer, "{id} of {name}: {buy_order} and {sell_offer}");
                both += 1;
            }
            empty += u32::from(tops == (None, None));
            if tops.0.is_some_and(|buy_order| product["sellPrice"].as_f64().unwrap() > buy_order + 0.01) {
                above.push(id.as_str());
            }
            if tops.1.is_some_and(|sell_offer| product["buyPrice"].as_f64().unwrap() < sell_offer - 0.01) {
                below.push(id.as_str());
            }
        }
        above.sort_unstable();
        below.sort_unstable();
        assert_eq!((above.as_slice(), below.as_slice()), (sales_above, purchases_below), "{name}");
        assert!(both > 200 && most == 30, "{name}: {both} with two sides, {most} levels, {empty} empty");
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn auctions_and_items_follow_from_the_real_responses() {
    let cloud = start().await;
    serve(&cloud, "/v2/skyblock/auctions", "auctions/v2-20250608T1707Z-page0.json");
    serve(&cloud, "/v2/resources/skyblock/items", "items/v2-20241015.json");

    let expected = Facts::data(&Source::Auctions(0), &text("auctions/v2-20250608T1707Z-page0.json"));
    assert_eq!(expected["auctions"].as_array().unwrap().len(), 1_000);
    expect_same(&get_data(&cloud, "/v1/auctions").await, &expected, "auctions");

    let items = capture("items/v2-20241015.json");
    let without_tier = |item: &&Value| item.get("tier").is_none();
    assert_eq!(items["items"].as_array().unwrap().iter().filter(without_tier).count(), 858);
    let expected = Facts::data(&Source::Items, &items.to_string());
    assert_eq!(expected["items"].as_array().unwrap().len(), items["items"].as_array().unwrap().len());
    expect_same(&get_data(&cloud, "/v1/items").await, &expected, "items");
    let full = get(&cloud, "/v1/items?mode=full").await;
    full.data();
    let texts = |text: &str| -> Vec<String> {
        let items: Vec<&RawValue> = serde_json::from_str(text).unwrap();
        items.into_iter().map(|item| item.get().to_owned()).collect()
    };
    // The capture has white space between its items, so this compares item by item.
    let sent = texts(&spelled(&text("items/v2-20241015.json"), "items"));
    assert!(
        texts(&spelled(&spelled(&full.text, "data"), "items")) == sent,
        "mode=full differs from the capture"
    );
    expect_clean_logs(&cloud);
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn what_is_passed_on_follows_from_the_real_responses() {
    let cloud = start().await;
    let mut captured = 0;
    for (example, resource) in passing_examples() {
        let Some(name) = captures::newest(resource.path.rsplit('/').next().unwrap()) else { continue };
        captured += 1;
        serve(&cloud, resource.path, &name);
        let expected = json!({ resource.content: capture(&name)[resource.content] });
        expect_same(&get_data(&cloud, example.path).await, &expected, example.path);
    }
    assert!(captured > 0);
    expect_clean_logs(&cloud);
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_mayor_follows_from_the_real_elections_with_an_open_booth_and_without() {
    let cloud = start().await;
    for (name, has_current) in [
        ("election/v2-20261010-nocurrent-minister.json", false),
        ("election/v2-20250312-current-minister.json", true),
    ] {
        serve(&cloud, "/v2/resources/skyblock/election", name);
        let expected = Facts::data(&Source::Election, &text(name));
        assert_eq!(expected["current"] != json!({}), has_current, "{name}");
        expect_same(&get_data(&cloud, "/v1/mayor").await, &expected, name);
        cloud.clock().advance(Duration::from_mins(5));
    }
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_fire_sales_follow_from_the_real_ones_and_may_be_empty() {
    let cloud = start().await;
    for (name, count) in
        [("firesales/1-empty-20260801.json", 0), ("firesales/2-active-20240831-two-sales.json", 2)]
    {
        serve(&cloud, "/v2/skyblock/firesales", name);
        let expected = Facts::data(&Source::FireSales, &text(name));
        assert_eq!(expected["sales"].as_array().unwrap().len(), count);
        expect_same(&get_data(&cloud, "/v1/fire-sales").await, &expected, name);
        cloud.clock().advance(Duration::from_mins(1));
    }
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn a_profile_follows_from_the_real_players() {
    let cloud = start().await;
    let players = capture("mojang/players.json");
    assert_eq!(players.as_object().unwrap().len(), 3);
    for (name, player) in players.as_object().unwrap() {
        let found = json!({"id": player["id"], "name": player["name"]}).to_string();
        simulator(&cloud).set_fault("/users/profiles/minecraft/*", Fault::default().with_body(found));
        let profiles = player["profiles"].as_str().unwrap();
        serve(&cloud, "/v2/skyblock/profiles", profiles);
        let profiles = Facts::data(&Source::Profiles(name.clone()), &text(profiles));
        assert_eq!(profiles == json!([]), name == "neverplayed", "{name}");
        let expected = json!({"uuid": player["id"], "username": player["name"], "profiles": profiles});
        expect_same(&get_data(&cloud, &format!("/v1/profile/{name}")).await, &expected, name);
    }
    expect_clean_logs(&cloud);
}
