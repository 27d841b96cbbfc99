//! Every route responds with exactly the documented fields, and with the values that follow from the
//! provider's body: from simulated bodies, and from captures of real ones.

use std::collections::{BTreeMap, BTreeSet};

use common::routes::VERSION_1;
use futures_util::{StreamExt, stream};
use local::Options;
use serde_json::{Value, json};
use simulator::{Fault, Resource, auctions, election, names, profiles};

use crate::provider::{
    AUCTIONS, BAZAAR, BazaarFacts, Data, ELECTION, Expected, FIRE_SALES, ITEMS, NOW, PROFILES,
    ParsedResource, SEED, WHOLE, of_player, parsed, passed, spelled, spelled_at,
};
use crate::support::{
    expect_clean_logs, get, one_instance_each, passing_examples, simulator, start, start_with,
    with_parameters,
};

/// A state of the upstream, and what follows from it.
struct Case {
    now_ms: i64,
    /// Bodies in place of the simulated ones, by their paths.
    bodies: Vec<(&'static str, String)>,
    expected: Vec<Expected>,
}

impl Case {
    /// The simulated bodies at this time.
    fn simulated(now_ms: i64, expected: Vec<Expected>) -> Self {
        Self { now_ms, bodies: Vec::new(), expected }
    }

    fn of(path: &'static str, body: String, expected: Vec<Expected>) -> Self {
        Self { now_ms: NOW, bodies: vec![(path, body)], expected }
    }

    /// Checks every response. The clock is stopped, so that the upstream does not refresh between requests.
    async fn check(self) {
        let cloud = start_with(one_instance_each()).await;
        cloud.clock().stop_at(self.now_ms);
        for (path, body) in self.bodies {
            simulator(&cloud).set_fault(path, Fault::default().with_body(body));
        }
        for Expected { path, data, repeated } in self.expected {
            let response = get(&cloud, &path).await;
            let found = response.data();
            let text = spelled(&response.text, "data");
            match data {
                Data::Parsed(expected) => expect_same(&found, &expected, &path),
                Data::Verbatim(expected) => {
                    assert!(text == expected, "{path} must repeat the provider byte for byte");
                }
            }
            for (place, part) in repeated {
                assert!(spelled_at(&text, &place) == part, "{place} of {path} must repeat the provider");
            }
        }
        expect_clean_logs(&cloud);
    }
}

/// Reports only the first different field, because the data can have megabytes.
#[track_caller]
fn expect_same(data: &Value, expected: &Value, what: &str) {
    if data == expected {
        return;
    }
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

#[track_caller]
fn capture(name: &str) -> String {
    captures::text(name).unwrap_or_else(|| panic!("there is no capture {name}"))
}

/// The simulated body of a resource without parameters.
fn simulated(resource: &ParsedResource, now_ms: i64) -> String {
    (Resource::at(resource.path).unwrap().body)(SEED, now_ms)
}

fn simulated_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for resource in WHOLE.iter().copied().chain([&BAZAAR]) {
        let moments = (resource.moments)().into_iter();
        cases.extend(moments.map(|now_ms| {
            Case::simulated(now_ms, (resource.requests)(resource, &simulated(resource, now_ms)))
        }));
    }
    for page in [0, 2] {
        let refresh = auctions::refreshed_at(SEED, page, NOW);
        let body = auctions::Snapshot::new(SEED, refresh).page(page).unwrap();
        cases.push(Case::simulated(NOW, (AUCTIONS.requests)(&AUCTIONS, &body)));
    }
    for (example, resource) in passing_examples() {
        let data = passed(&resource, &(resource.body)(SEED, NOW));
        cases.push(Case::simulated(NOW, vec![Expected::new(example.path, data)]));
    }
    let players = players().into_iter().map(|name| {
        let uuid = names::uuid(SEED, &name).unwrap();
        let body = profiles::body(SEED, &uuid, NOW);
        of_player(&name, &uuid, &names::spelling(SEED, &name), &body)
    });
    cases.push(Case::simulated(NOW, players.collect()));
    cases
}

fn captured_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for resource in parsed() {
        cases.extend(resource.captures.iter().map(|name| {
            let body = capture(name);
            let expected = (resource.requests)(resource, &body);
            Case::of(resource.path, body, expected)
        }));
    }
    for (example, resource) in passing_examples() {
        let Some(name) = captures::newest(resource.path.rsplit('/').next().unwrap()) else { continue };
        let expected = Expected::new(example.path, passed(&resource, &capture(&name)));
        cases.push(Case::of(resource.path, capture(&name), vec![expected]));
    }
    let players: BTreeMap<String, Value> = serde_json::from_str(&capture("mojang/players.json")).unwrap();
    for (name, player) in players {
        let text = |field: &str| player[field].as_str().unwrap();
        let body = capture(text("profiles"));
        let expected = of_player(&name, text("id"), text("name"), &body);
        let found = json!({"id": player["id"], "name": player["name"]}).to_string();
        let bodies = vec![(PROFILES.path, body), ("/users/profiles/minecraft/*", found)];
        cases.push(Case { now_ms: NOW, bodies, expected: vec![expected] });
    }
    cases
}

/// Players with and without a selected profile, by a name that its owner spells the same or in another way,
/// in capitals, and a player without profiles.
fn players() -> Vec<String> {
    let player = |selects_one: bool, respelt: bool| {
        let fits = |name: &String| {
            let body = profiles::body(SEED, &names::uuid(SEED, name).unwrap(), NOW);
            body.contains("\"selected\":") == selects_one && (names::spelling(SEED, name) != *name) == respelt
        };
        (0..1_000).map(|number| format!("player_{number}")).find(fits).unwrap()
    };
    let capitals = player(true, true).to_uppercase();
    vec![player(true, true), capitals, player(true, false), player(false, true), "NeverPlayed".to_owned()]
}

/// Checks four cases at a time.
async fn check(cases: Vec<Case>) {
    stream::iter(cases).map(Case::check).buffer_unordered(4).collect::<()>().await;
}

#[tokio::test]
async fn responses_follow_from_simulated_bodies() {
    check(simulated_cases()).await;
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn responses_follow_from_real_bodies() {
    check(captured_cases()).await;
}

#[tokio::test]
async fn equal_flips_are_ordered_by_id_and_the_thresholds_are_inclusive() {
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
    }})
    .to_string();
    let flips = BazaarFacts::of(&body).flips(20, [50_000, 10_000]);
    let items = flips["items"].as_array().unwrap().iter();
    let percentages: Vec<_> = items.map(|item| (&item["id"], &item["spreadPercent"])).collect();
    let expected = [("BEST", 900.0), ("TIE_A", 50.0), ("TIE_B", 50.0), ("TIE_C", 50.0), ("LOSS", -100.0)];
    assert_eq!(json!(percentages), json!(expected));
    let expected = Expected::new("/v1/bazaar?mode=flips", Data::Parsed(flips));
    Case::of(BAZAAR.path, body, vec![expected]).check().await;
}

/// The products have each combination of prices, orders, and ids with or without a colon.
#[test]
fn the_simulated_bazaar_has_every_kind_of_product() {
    let body = simulated(&BAZAAR, NOW);
    let market = BazaarFacts::of(&body);
    let all = market.products.len();
    let listed = market.list()["count"].as_u64().unwrap();
    assert!(all > 1_500 && listed > 1_000 && listed < all as u64, "{listed} of {all}");
    let flips = market.flips(usize::MAX, [50_000, 10_000])["count"].as_i64().unwrap();
    assert!((20..=100).contains(&flips), "{flips} flips are too few or too many to test the limits");
    assert!(market.prices().to_string().len() < 1_000_000);
    let products: BTreeMap<String, Value> = serde_json::from_str(&spelled(&body, "products")).unwrap();
    let [mut prices, mut orders, mut colons] = [const { BTreeSet::new() }; 3];
    for (id, product) in &products {
        let has = ["sellPrice", "buyPrice"].map(|side| product["quick_status"][side] != 0.0);
        prices.insert(has.map(u8::from).to_vec());
        let sides = ["sell_summary", "buy_summary"].map(|side| product[side].as_array().unwrap().len());
        orders.insert(sides.map(|count| u8::from(count > 0)).to_vec());
        colons.insert(vec![u8::from(id.contains(':')), u8::from(sides == [30, 30])]);
    }
    assert_eq!((prices.len(), orders.len(), colons.len()), (4, 4, 4));
}

#[test]
fn simulated_bodies_have_every_kind_of_row() {
    let catalogue = simulated(&ITEMS, NOW);
    let [count, tiers, signatures] =
        ["\"id\":", "\"tier\":", "\"signature\":"].map(|field| catalogue.matches(field).count());
    assert!(count > 4_000 && count - tiers > 500 && signatures > 500, "{count}, {tiers}, {signatures}");
    assert!(catalogue.contains("\"npc_sell_price\":6.0E7"));
    let mut ministers = BTreeSet::new();
    for now_ms in (ELECTION.moments)() {
        let body: Value = serde_json::from_str(&simulated(&ELECTION, now_ms)).unwrap();
        let year = body["mayor"]["election"]["year"].as_i64().unwrap();
        let is_open = body.get("current").is_some();
        assert_eq!(now_ms, if is_open { election::opens_at(year + 1) } else { election::closes_at(year) });
        ministers.insert(body["mayor"].get("minister").is_some());
    }
    assert_eq!(ministers.len(), 2, "there must be mayors with and without a minister");
    let sales = (FIRE_SALES.moments)().into_iter().map(|now_ms| simulated(&FIRE_SALES, now_ms));
    assert_eq!(sales.filter(|body| body.contains("item_id")).count(), 2);
    for page in [0, 2] {
        let refresh = auctions::refreshed_at(SEED, page, NOW);
        let text = auctions::Snapshot::new(SEED, refresh).page(page).unwrap();
        let data = AUCTIONS.data(&text).unwrap();
        assert_eq!((&data["page"], &data["lastUpdated"]), (&json!(page), &json!(refresh)));
        assert_eq!(data["auctions"].as_array().unwrap().len(), 1_000);
    }
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn real_bodies_have_every_kind_of_row() {
    let data = |resource: &ParsedResource| -> Vec<Value> {
        resource.captures.iter().map(|name| resource.data(&capture(name)).unwrap()).collect()
    };
    assert_eq!(data(&AUCTIONS)[0]["auctions"].as_array().unwrap().len(), 1_000);
    let items: Value = serde_json::from_str(&capture(ITEMS.captures[0])).unwrap();
    let items = items["items"].as_array().unwrap();
    assert_eq!(items.iter().filter(|item| item.get("tier").is_none()).count(), 858);
    assert_eq!(data(&ITEMS)[0]["items"].as_array().unwrap().len(), items.len());
    let elections = data(&ELECTION);
    assert_eq!([0, 1].map(|number: usize| elections[number]["current"] != json!({})), [false, true]);
    let sales = data(&FIRE_SALES);
    assert_eq!([0, 1].map(|number: usize| sales[number]["sales"].as_array().unwrap().len()), [0, 2]);
    let players: Value = serde_json::from_str(&capture("mojang/players.json")).unwrap();
    for (name, player) in players.as_object().unwrap() {
        let profiles = PROFILES.data(&capture(player["profiles"].as_str().unwrap())).unwrap();
        assert_eq!(profiles == json!([]), name == "neverplayed", "{name}");
    }
    assert_eq!(players.as_object().unwrap().len(), 3);
    assert!(
        passing_examples()
            .any(|(_, resource)| { captures::newest(resource.path.rsplit('/').next().unwrap()).is_some() })
    );
}

/// The number `field` of the product `id`, exactly as in the capture.
fn digits<'a>(capture: &'a str, id: &str, field: &str) -> &'a str {
    let status = capture.find(&format!(r#""productId": "{id}""#)).unwrap();
    let (_, rest) = capture[status..].split_once(&format!("\"{field}\": ")).unwrap();
    rest.split([',', '}']).next().unwrap()
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn the_prices_of_every_real_product_keep_every_digit() {
    let raw = capture(BAZAAR.captures[0]);
    let products = BazaarFacts::of(&raw).products;
    let awkward =
        ["INK_SACK:3", "LOG:2", "RAW_FISH:1", "X", "Y", "Z", "ENCHANTED_DIAMOND", "MOONGLADE_JEWEL"];
    for id in products.keys().map(String::as_str).chain(awkward) {
        for field in ["sellPrice", "buyPrice"] {
            let exact: f64 = digits(&raw, id, field).parse().unwrap();
            let served = products[id][field].as_f64().unwrap();
            assert_eq!(served.to_bits(), exact.to_bits(), "{field} of {id}: {served}, not {exact}");
        }
    }
    let without_orders = products.values().filter(|product| product["sellPrice"] == 0.0).count();
    assert!(without_orders > 5, "there must be products without buy orders");
}

/// For each capture, the products whose average sell price is above their highest buy order, and the products
/// whose average buy price is below their lowest sell offer. Differences of at most a hundredth of a coin do
/// not count. The provider updates orders and averages separately.
const INCONSISTENT: [[&[&str]; 2]; 2] = [
    [
        &["AUTO_SMELTER", "ENCHANTED_MANGROVE_LOG", "ROUGH_CITRINE_GEM", "SHARD_ANANKE", "SUSPICIOUS_SCRAP"],
        &["ENCHANTMENT_ABSORB_1", "SHARD_AERO", "SHARD_NESSIE"],
    ],
    [&["ENCHANTED_NETHER_STALK"], &["ENCHANTED_GRILLED_PORK"]],
];

/// An instant sale fills the highest buy orders first, so its average price is at most the highest order. An
/// instant purchase takes the lowest sell offers first. If the sides were swapped, most products would be in
/// [`INCONSISTENT`].
#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn the_book_of_every_real_product_has_its_orders_on_the_right_side() {
    for (name, expected) in BAZAAR.captures.iter().zip(INCONSISTENT) {
        let market = BazaarFacts::of(&capture(name));
        let mut above = Vec::new();
        let mut below = Vec::new();
        let mut both = 0;
        let mut empty = 0;
        let mut most = 0;
        for (id, product) in &market.products {
            let data = market.book(id).unwrap();
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
        assert_eq!([above.as_slice(), below.as_slice()], expected, "{name}");
        assert!(both > 200 && most == 30, "{name}: {both} with two sides, {most} levels, {empty} empty");
    }
}

/// Compares the index with the table of routes, which other tests compare with the page for clients.
#[tokio::test]
async fn the_index_lists_every_route_with_its_cache_duration_and_parameters() {
    let documentation = "https://example.org/docs";
    let options = with_parameters(Options::for_tests(), &[("DocumentationUrl", documentation)]);
    let cloud = start_with(options).await;
    let endpoints: Vec<_> = VERSION_1
        .iter()
        .map(|route| {
            let parameters: Vec<_> = route
                .parameters
                .iter()
                .map(|parameter| {
                    json!({
                        "name": parameter.name,
                        "in": parameter.location.name(),
                        "required": parameter.required,
                        "description": parameter.description(),
                    })
                })
                .collect();
            json!({
                "method": "GET",
                "path": route.path,
                "summary": route.summary,
                "cache_seconds": route.cache.as_secs(),
                "parameters": parameters,
            })
        })
        .collect();
    let index = get(&cloud, "/").await.data();
    assert_eq!((&index["api_version"], &index["documentation"]), (&json!("v1"), &json!(documentation)));
    assert_eq!(index["endpoints"], json!(endpoints));
    assert_eq!(index["public_files"], Value::Null, "without public files");
    assert!(index["name"].is_string() && index.as_object().unwrap().len() == 8, "{index}");
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
