//! Every route responds with exactly the documented fields, and with the values that follow from the upstream's current response.

use std::collections::{BTreeMap, BTreeSet};

use common::routes::VERSION_1;
use local::{Cloud, Options};
use serde_json::{Value, json};
use simulator::{Fault, auctions, bazaar, election, fire_sales, items, names, profiles};

use crate::oracle::{BazaarFacts, Facts, Source, spelled};
use crate::support::{
    FLIPS, expect_clean_logs, get, passing_examples, simulator, start, start_with, with_parameters,
};

/// The seed of the cloud's simulator.
const SEED: u64 = 1;

/// 2026-04-28 15:03:20 UTC, in Unix milliseconds.
const NOW: i64 = 1_777_388_600_000;

const HOUR_MS: i64 = 3_600_000;

/// Starts a cloud whose clock is stopped, so that the upstream does not refresh between requests.
async fn start_at(now_ms: i64) -> Cloud {
    let cloud = start().await;
    cloud.clock().stop_at(now_ms);
    cloud
}

async fn data(cloud: &Cloud, path: &str) -> Value {
    get(cloud, path).await.data()
}

/// The provider's products, and the data that must follow from them.
fn market() -> (Value, BazaarFacts) {
    let body = bazaar::body(SEED, NOW);
    (serde_json::from_str(&spelled(&body, "products")).unwrap(), BazaarFacts::of(&body))
}

#[tokio::test]
async fn the_full_bazaar_repeats_the_providers_products_byte_for_byte() {
    let cloud = start_at(NOW).await;
    let (_, market) = market();
    assert!(market.products.len() > 1_500);
    for path in ["/v1/bazaar", "/v1/bazaar?mode=full"] {
        let response = get(&cloud, path).await;
        response.data();
        assert!(spelled(&response.text, "data") == market.full, "{path}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_list_has_the_ids_of_products_with_both_prices_in_order() {
    let cloud = start_at(NOW).await;
    let (products, market) = market();
    let list = market.list();
    let count = list["items"].as_array().unwrap().len();
    let all = products.as_object().unwrap().len();
    assert!(count > 1_000 && count < all, "{count} of {all}");
    assert_eq!(data(&cloud, "/v1/bazaar?mode=list").await, list);
    expect_clean_logs(&cloud);
}

/// Checks one product for each combination of prices, orders, and ids with or without a colon.
#[tokio::test]
async fn an_item_has_its_prices_and_a_book_the_orders_of_both_sides_by_what_they_are() {
    let cloud = start_at(NOW).await;
    let (products, market) = market();
    let mut kinds = BTreeMap::new();
    for (id, product) in products.as_object().unwrap() {
        let prices = ["sellPrice", "buyPrice"].map(|side| product["quick_status"][side] != 0.0);
        let orders = ["sell_summary", "buy_summary"].map(|side| product[side].as_array().unwrap().len());
        kinds.insert((prices, orders.map(|count| count.min(1)), id.contains(':')), id);
        kinds.insert((prices, orders.map(|count| count / 30), id.contains(':')), id);
    }
    let prices: BTreeSet<_> = kinds.keys().map(|(prices, ..)| prices).collect();
    let orders: BTreeSet<_> = kinds.keys().map(|(_, orders, _)| orders).collect();
    let colons: BTreeSet<_> = kinds.keys().map(|(.., colon)| colon).collect();
    assert_eq!((prices.len(), orders.len(), colons.len()), (4, 4, 2), "{kinds:?}");
    for id in kinds.values() {
        assert_eq!(data(&cloud, &format!("/v1/bazaar?mode=item&id={id}")).await, market.products[*id]);
        let book = data(&cloud, &format!("/v1/bazaar?mode=book&id={id}")).await;
        assert_eq!(Some(book), market.book(id), "{id}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn prices_have_every_product_with_the_prices_of_its_best_orders_sorted_by_id() {
    let cloud = start_at(NOW).await;
    let (_, market) = market();
    let response = get(&cloud, "/v1/bazaar?mode=prices").await;
    assert_eq!(response.data(), market.prices());
    assert!(response.text.len() < 1_000_000, "{}", response.text.len());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn flips_are_the_largest_spreads_of_expensive_and_traded_products() {
    let cloud = start_at(NOW).await;
    let (_, market) = market();
    let all = market.flips(usize::MAX, [50_000, 10_000])["count"].as_i64().unwrap();
    assert!((20..=100).contains(&all), "{all} flips are too few or too many to test the limits");
    for (parameters, limit, rules) in FLIPS {
        let flips = data(&cloud, &format!("/v1/bazaar?mode=flips{parameters}")).await;
        assert_eq!(flips, market.flips(limit, rules), "{parameters}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn many_items_are_in_the_order_of_the_request_and_unknown_ids_are_named() {
    let cloud = start_at(NOW).await;
    let (products, market) = market();
    let many: Vec<_> = products.as_object().unwrap().keys().rev().step_by(7).take(97).cloned().collect();
    assert_eq!(many.len(), 97);
    for (ids, expected) in [
        ("INK_SACK:3,X", vec!["INK_SACK:3", "X"]),
        ("X,INK_SACK:3", vec!["X", "INK_SACK:3"]),
        ("NOPE,X,x,X,NOPE,INK_SACK%3A3,X,%20X", vec!["NOPE", "X", "x", "INK_SACK:3", " X"]),
        ("NOPE", vec!["NOPE"]),
        (&many.join(","), many.iter().map(String::as_str).collect()),
    ] {
        let asked: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(data(&cloud, &format!("/v1/bazaar?mode=items&ids={ids}")).await, market.items(&asked));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn equal_flips_are_ordered_by_id_and_the_thresholds_are_inclusive() {
    let cloud = start_at(NOW).await;
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
    let fault = Fault::default().with_body(body.to_string());
    simulator(&cloud).set_fault("/v2/skyblock/bazaar", fault);
    let data = get(&cloud, "/v1/bazaar?mode=flips").await.data();
    let percentages: Vec<(&str, f64)> = data["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["id"].as_str().unwrap(), item["spreadPercent"].as_f64().unwrap()))
        .collect();
    let expected = [("BEST", 900.0), ("TIE_A", 50.0), ("TIE_B", 50.0), ("TIE_C", 50.0), ("LOSS", -100.0)];
    assert_eq!(percentages, expected);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn an_auctions_page_has_the_documented_fields_of_the_providers_auctions() {
    let cloud = start_at(NOW).await;
    for (page, path) in [(0, "/v1/auctions"), (0, "/v1/auctions?page=0"), (2, "/v1/auctions?page=2")] {
        let refresh = auctions::refreshed_at(SEED, page, NOW);
        let upstream = auctions::Snapshot::new(SEED, refresh).page(page).unwrap();
        let expected = Facts::data(&Source::Auctions(u32::try_from(page).unwrap()), &upstream);
        assert_eq!((&expected["page"], &expected["lastUpdated"]), (&json!(page), &json!(refresh)));
        assert_eq!(expected["auctions"].as_array().unwrap().len(), 1_000);
        assert!(data(&cloud, path).await == expected, "{path}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn what_is_passed_on_repeats_the_provider_byte_for_byte() {
    let cloud = start_at(NOW).await;
    for (example, resource) in passing_examples() {
        let content = spelled(&(resource.body)(SEED, NOW), resource.content);
        let response = get(&cloud, example.path).await;
        response.data();
        let expected = format!(r#"{{"{}":{content}}}"#, resource.content);
        assert!(spelled(&response.text, "data") == expected, "{}", example.path);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_item_catalogue_is_complete_and_an_item_without_tier_is_common() {
    let cloud = start_at(NOW).await;
    let body = items::body(SEED, NOW);
    let expected = Facts::data(&Source::Items, &body);
    let count = expected["items"].as_array().unwrap().len();
    let tiers = body.matches("\"tier\":").count();
    assert!(count > 4_000 && count - tiers > 500, "{tiers} of {count} have a tier");
    assert!(data(&cloud, "/v1/items").await == expected);
    let full = get(&cloud, "/v1/items?mode=full").await;
    assert!(
        full.data()["items"].as_array().unwrap().len() == count
            && full.text.contains("\"npc_sell_price\":6.0E7")
    );
    let as_sent = format!(r#"{{"items":{}}}"#, spelled(&body, "items"));
    let signed: Vec<_> = as_sent.split(r#","signature":""#).collect();
    assert!(signed.len() > 500, "{} signatures", signed.len());
    let rests = signed[1..].iter().map(|signed| signed.split_once('"').unwrap().1);
    let unsigned: String = [signed[0]].into_iter().chain(rests).collect();
    let served = spelled(&full.text, "data");
    assert!(served == unsigned, "every item must be as the provider sends it, without its signature");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_mayor_is_the_current_one_with_and_without_an_election_and_a_minister() {
    let cloud = start_at(NOW).await;
    let next = election::seated_year(NOW) + 1;
    let mut seen = BTreeSet::new();
    // At least one of nine elections has a special mayor, who has no minister.
    for year in next..next + 9 {
        for moment in [election::closes_at(year), election::opens_at(year + 1)] {
            cloud.clock().stop_at(moment);
            let body = election::body(SEED, moment);
            let response = get(&cloud, "/v1/mayor").await;
            let data = response.data();
            assert_eq!(data, Facts::data(&Source::Election, &body));
            assert_eq!(data["election"]["year"], year, "`election` must be the election that the mayor won");
            let text = spelled(&response.text, "data");
            let sitting = spelled(&body, "mayor");
            assert_eq!(spelled(&text, "election"), spelled(&sitting, "election"));
            let is_open = data["current"] != json!({});
            assert_eq!(is_open, moment == election::opens_at(year + 1), "whether the election is open");
            if is_open {
                assert_eq!(spelled(&text, "current"), spelled(&body, "current"));
            }
            let sitting: Value = serde_json::from_str(&sitting).unwrap();
            seen.insert(sitting.get("minister").is_some());
        }
    }
    assert_eq!(seen.len(), 2, "there must be mayors with and without a minister");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn fire_sales_are_those_of_the_provider_and_may_be_empty() {
    let cloud = start_at(NOW).await;
    let sales_at = |moment| Facts::data(&Source::FireSales, &fire_sales::body(SEED, moment));
    let mut hour = NOW / HOUR_MS;
    for is_empty in [false, true, false, true] {
        hour += 1;
        while (sales_at(hour * HOUR_MS) == json!({"sales": []})) != is_empty {
            hour += 1;
        }
        cloud.clock().stop_at(hour * HOUR_MS);
        assert_eq!(data(&cloud, "/v1/fire-sales").await, sales_at(hour * HOUR_MS));
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_profile_has_the_name_as_its_owner_spells_it_and_unchanged_members() {
    let cloud = start_at(NOW).await;
    let body = |name: &str| profiles::body(SEED, &names::uuid(SEED, name).unwrap(), NOW);
    let player = |selects_one: bool, respelt: bool| {
        let fits = |name: &String| {
            body(name).contains("\"selected\":") == selects_one
                && (names::spelling(SEED, name) != *name) == respelt
        };
        (0..1_000).map(|number| format!("player_{number}")).find(fits).unwrap()
    };
    // Requests the name in lower case, in capitals, and in the owner's spelling.
    let players =
        [player(true, true), player(true, true).to_uppercase(), player(true, false), player(false, true)];
    for name in players {
        let response = get(&cloud, &format!("/v1/profile/{name}")).await;
        let uuid = names::uuid(SEED, &name).unwrap();
        let profiles = Facts::data(&Source::Profiles(uuid.clone()), &body(&name));
        let username = names::spelling(SEED, &name);
        assert_eq!(response.data(), json!({"uuid": uuid, "username": username, "profiles": profiles}));
        let members = |data: &str| -> Vec<String> {
            let profiles: Vec<Box<serde_json::value::RawValue>> =
                serde_json::from_str(&spelled(data, "profiles")).unwrap();
            profiles.iter().map(|profile| spelled(profile.get(), "members")).collect()
        };
        assert!(members(&spelled(&response.text, "data")) == members(&body(&name)), "{name}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_player_without_profiles_has_an_empty_list() {
    let cloud = start_at(NOW).await;
    let expected = json!({
        "uuid": names::uuid(SEED, names::NEVER_PLAYED),
        "username": names::spelling(SEED, names::NEVER_PLAYED),
        "profiles": [],
    });
    assert_eq!(data(&cloud, "/v1/profile/NeverPlayed").await, expected);
    expect_clean_logs(&cloud);
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
    let index = data(&cloud, "/").await;
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
