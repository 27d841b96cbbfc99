//! `GET /v1/auctions/listings` serves exactly the running auctions that pass the filters, page by page, and
//! only from a recent object.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use common::coins::Coins;
use common::pet_level::PetLevel;
use common::time::UnixMilliseconds;
use common::upstream::auctions::AuctionId;
use fastrand::Rng;
use files::listings::Listing;
use local::Cloud;
use record_auctions::item::{Buffers, Item, read};
use serde_json::{Value, json};

use super::captured::{PAGE, capture};
use super::house::{RECORDER, serve};
use crate::history::{MINUTE as MINUTE_S, START, record, start};
use crate::provider::NOW;
use crate::support::{
    House, clean_auction, expect_clean_logs, get_at, listings_of, object, one_instance_each, record_listings,
    start_with,
};

const MINUTE: i64 = 60_000;

const PATH: &str = "/v1/auctions/listings";
const REFORGES: [&str; 3] = ["heroic", "withered", "jerry_stone"];
const ENCHANTMENTS: [&str; 4] = ["ultimate_wise", "growth", "sharpness", "luck"];

/// An auction with random properties. Prices repeat.
fn random_auction(number: u128, rng: &mut Rng) -> Listing {
    let mut auction = clean_auction(number, Coins::of_hundredths(rng.u64(1..60) * 50));
    auction.amount = NonZeroU32::new(rng.u32(1..4)).unwrap();
    let item = &mut auction.properties;
    let some = |rng: &mut Rng| rng.u8(..3) > 0;
    item.clean = rng.bool();
    item.recombobulated = rng.bool();
    item.stars = some(rng).then(|| rng.u8(1..=10));
    item.level = some(rng).then(|| PetLevel::new(rng.u32(1..=200)).unwrap());
    item.reforge = some(rng).then(|| rng.choice(REFORGES).unwrap().into());
    item.held_item = some(rng).then(|| "PET_ITEM_LUCKY_CLOVER".into());
    item.skin = some(rng).then(|| "FLAME".into());
    for name in ENCHANTMENTS {
        if some(rng) {
            item.enchantments.get_or_insert_default().insert(name.into(), rng.u8(1..=7));
        }
    }
    auction
}

fn random_house(rng: &mut Rng) -> House {
    let mut auctions =
        |count: usize| (0..count).map(|_| random_auction(rng.u128(..), rng)).collect::<Vec<_>>();
    [("HYPERION", 150), ("SHEEP;4", 60), ("SHEEP;4+100", 1)]
        .map(|(id, count)| (id.to_owned(), auctions(count)))
        .into()
}

/// The auction as the response must have it.
fn expected(listing: &Listing) -> Value {
    let item = &listing.properties;
    json!({
        "auction": listing.auction.to_string(), "price": listing.price.coins(), "amount": listing.amount, "end": listing.end,
        "clean": item.clean, "level": item.level.map(PetLevel::get), "stars": item.stars, "recombobulated": item.recombobulated,
        "reforge": item.reforge, "enchantments": item.enchantments, "held_item": item.held_item, "skin": item.skin,
    })
}

/// Returns random filters as a query, and the data's `filters` with them.
fn random_filters(rng: &mut Rng) -> (String, Value) {
    let mut query = String::new();
    let mut filters = json!({
        "clean": null, "min_level": 0, "min_stars": 0, "recombobulated": null, "reforge": null, "enchantments": {},
        "max_price": 1_000_000_000_000_u64,
    });
    let mut add = |name: &str, value: Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        query.extend(["&", name, "=", &text]);
        filters[name] = value;
    };
    let rarely = |rng: &mut Rng| rng.u8(..4) == 0;
    for name in ["clean", "recombobulated"] {
        if rarely(rng) {
            add(name, json!(rng.bool()));
        }
    }
    for (name, most) in [("min_level", 200), ("min_stars", 10)] {
        if rarely(rng) {
            add(name, json!(rng.u64(0..=most)));
        }
    }
    if rarely(rng) {
        add("max_price", json!(rng.u64(1..30)));
    }
    if rarely(rng) {
        add("reforge", json!(rng.choice(["spicy", "heroic", "withered"])));
    }
    if rarely(rng) {
        let mut names = ["ultimate_wise", "growth", "unknown_1"];
        rng.shuffle(&mut names);
        let names = &names[..rng.usize(1..=2)];
        let levels: Vec<_> = names.iter().map(|name| (*name, rng.u8(1..=5))).collect();
        let text = |(name, level): &(&str, u8)| {
            if *level == 1 { (*name).to_owned() } else { format!("{name}:{level}") }
        };
        let text = levels.iter().map(text).collect::<Vec<_>>().join(",");
        query.extend(["&enchantments=", &text]);
        filters["enchantments"] = json!(levels.into_iter().collect::<BTreeMap<_, _>>());
    }
    (query, filters)
}

/// Whether an auction of a response passes the filters. `null` passes no filter.
fn passes(auction: &Value, filters: &Value) -> bool {
    let equals = |name: &str| filters[name].is_null() || filters[name] == auction[name];
    let at_least = |name: &str, least: &Value| least == 0 || auction[name].as_u64() >= least.as_u64();
    let enchantments = filters["enchantments"].as_object().unwrap();
    let is_enchanted =
        enchantments.iter().all(|(name, level)| auction["enchantments"][name].as_u64() >= level.as_u64());
    ["clean", "recombobulated", "reforge"].into_iter().all(equals)
        && at_least("level", &filters["min_level"])
        && at_least("stars", &filters["min_stars"])
        && is_enchanted
        && auction["price"].as_f64() <= filters["max_price"].as_f64()
}

fn path(id: &str, query: &str) -> String {
    format!("{PATH}?id={}{query}", id.replace(';', "%3B").replace('+', "%2B"))
}

#[tokio::test]
async fn filters_and_pages_return_what_a_naive_filter_returns() {
    let cloud = start_with(one_instance_each()).await;
    let seed = fastrand::u64(..);
    let rng = &mut Rng::with_seed(seed);
    for round in 0..6 {
        let now = NOW + round * 2 * MINUTE;
        let house = random_house(rng);
        record_listings(&cloud, now, &house).await;
        let mut found = 0;
        for _ in 0..60 {
            let id = *rng.choice(&["HYPERION", "SHEEP;4", "SHEEP;4+100", "NO_SUCH_ITEM"]).unwrap();
            let (query, filters) = random_filters(rng);
            let limit = rng.usize(1..=100);
            let mut auctions: Vec<_> = house.get(id).into_iter().flatten().map(expected).collect();
            auctions.retain(|auction| passes(auction, &filters));
            auctions.sort_by(|one, other| {
                let key = |auction: &Value| auction["auction"].as_str().unwrap().to_owned();
                one["price"]
                    .as_f64()
                    .unwrap()
                    .total_cmp(&other["price"].as_f64().unwrap())
                    .then(key(one).cmp(&key(other)))
            });
            found += auctions.len();
            let count = auctions.len();
            let mut after = String::new();
            for page in auctions.chunks(limit).chain(auctions.is_empty().then_some(&[][..])) {
                let data =
                    get_at(&cloud, &path(id, &format!("{query}&limit={limit}{after}")), now).await.data();
                let expected = json!({
                    "id": id, "lastUpdated": now - 1_000, "filters": filters, "count": count, "listings": page,
                    "next_after": data["next_after"],
                });
                assert_eq!(data, expected, "seed {seed}: {id}{query}");
                after =
                    data["next_after"].as_str().map(|after| format!("&after={after}")).unwrap_or_default();
            }
            assert_eq!(after, "", "seed {seed}: {id}{query}: the last page has a next page");
        }
        assert!(found > 50, "seed {seed}: {found} auctions");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_client_that_reads_all_pages_gets_every_auction_that_stays_exactly_once() {
    let cloud = start_with(one_instance_each()).await;
    let seed = fastrand::u64(..);
    let rng = &mut Rng::with_seed(seed);
    let mut house = random_house(rng);
    let mut stayed: BTreeSet<_> =
        house["HYPERION"].iter().map(|auction| auction.auction.to_string()).collect();
    let mut read = Vec::new();
    let mut after = String::new();
    for minute in 0.. {
        let now = NOW + minute * MINUTE;
        record_listings(&cloud, now, &house).await;
        let data = get_at(&cloud, &path("HYPERION", &format!("&limit=7{after}")), now).await.data();
        let listings = data["listings"].as_array().unwrap();
        read.extend(listings.iter().map(|auction| auction["auction"].as_str().unwrap().to_owned()));
        let Some(next) = data["next_after"].as_str() else { break };
        after = format!("&after={next}");
        // Auctions go, also the one at which the page has ended, and others begin at any price.
        let auctions = house.get_mut("HYPERION").unwrap();
        auctions.retain(|auction| {
            let goes = rng.u8(..20) == 0 || next.ends_with(&auction.auction.to_string());
            if goes {
                stayed.remove(&auction.auction.to_string());
            }
            !goes
        });
        auctions.extend((0..3).map(|_| random_auction(rng.u128(..), rng)));
    }
    let distinct: BTreeSet<_> = read.iter().cloned().collect();
    assert_eq!(distinct.len(), read.len(), "seed {seed}: an auction is on two pages");
    assert!(
        stayed.len() > 20 && stayed.is_subset(&distinct),
        "seed {seed}: {:?}",
        stayed.difference(&distinct)
    );
    expect_clean_logs(&cloud);
}

/// A house in which the lowest price is this many hundredths of a coin.
fn house_at(price: u64) -> House {
    [("HYPERION".to_owned(), vec![clean_auction(1, Coins::of_hundredths(price))])].into()
}

async fn price(cloud: &Cloud, id: &str, now: i64) -> Option<f64> {
    let response = get_at(cloud, &path(id, ""), now).await;
    if response.status == 500 {
        return None;
    }
    Some(response.data()["listings"][0]["price"].as_f64().unwrap_or(0.0))
}

#[tokio::test]
async fn an_object_that_is_missing_cut_foreign_or_old_is_a_500_until_there_is_a_good_one() {
    let cloud = start_with(one_instance_each()).await;
    let file = cloud.listings().join("listings");
    assert_eq!(price(&cloud, "HYPERION", NOW).await, None, "there is no object");
    record_listings(&cloud, NOW, &house_at(100)).await;
    assert_eq!(price(&cloud, "HYPERION", NOW).await, Some(1.0));
    let whole = std::fs::read(&file).unwrap();
    let index = whole.len() - 4 - u32::from_be_bytes(*whole.last_chunk().unwrap()) as usize;
    let corrupt = [
        whole[..whole.len() - 1].to_vec(),
        whole[..whole.len() / 2].to_vec(),
        whole[1..].to_vec(),
        [&whole[..index / 2], &[0; 8], &whole[index / 2 + 8..]].concat(),
        [&[0], &whole[..]].concat(),
        vec![0; 300_000],
        vec![255; 3],
        Vec::new(),
    ];
    for (number, content) in corrupt.iter().enumerate() {
        cloud.kill("auctions-listings").await.unwrap();
        std::fs::write(&file, content).unwrap();
        assert_eq!(price(&cloud, "HYPERION", NOW).await, None, "content {number}");
        // The recorder replaces it, whatever it is.
        record_listings(&cloud, NOW, &house_at(100)).await;
        assert_eq!(price(&cloud, "HYPERION", NOW).await, Some(1.0), "content {number}");
    }
    // Ten minutes after the recorded minute, auctions are too old, also if they are in the cache of the
    // instance.
    let minute = NOW - NOW % MINUTE;
    assert_eq!(price(&cloud, "HYPERION", minute + 10 * MINUTE).await, Some(1.0));
    let late = minute + 10 * MINUTE + 1_000;
    assert_eq!(price(&cloud, "HYPERION", late).await, None);
    // New auctions are served at once, although the instance has read the old object in this minute.
    record_listings(&cloud, late, &house_at(200)).await;
    assert_eq!(price(&cloud, "HYPERION", late).await, Some(2.0));
    cloud.kill("auctions-listings").await.unwrap();
    record_listings(&cloud, NOW, &house_at(100)).await;
    assert_eq!(price(&cloud, "HYPERION", minute + 9 * MINUTE).await, Some(1.0));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(price(&cloud, "HYPERION", minute + 9 * MINUTE).await, Some(1.0), "the stale auctions");
    cloud.kill("auctions-listings").await.unwrap();
    assert_eq!(price(&cloud, "HYPERION", minute + 9 * MINUTE).await, None);
}

#[tokio::test]
async fn a_block_is_never_read_with_the_index_of_another_object() {
    let cloud = start_with(one_instance_each()).await;
    let mut house = house_at(100);
    for number in 0..20 {
        house.insert(format!("ITEM_{number}"), vec![clean_auction(number, Coins::of_hundredths(7))]);
    }
    record_listings(&cloud, NOW, &house).await;
    assert_eq!(price(&cloud, "HYPERION", NOW).await, Some(1.0));
    // Within a minute, the instance knows the index of the first object, whose blocks are elsewhere.
    for number in 0..20_u64 {
        house.insert(
            "A".repeat(usize::try_from(number + 1).unwrap()),
            vec![clean_auction(1, Coins::of_hundredths(5))],
        );
        let item = house.get_mut(&format!("ITEM_{number}")).unwrap();
        item[0].price = Coins::of_hundredths(300 + number * 100);
        let now = NOW + i64::try_from(number).unwrap() * 2_000;
        record_listings(&cloud, now, &house).await;
        let expected = 3.0 + f64::from(u32::try_from(number).unwrap());
        assert_eq!(price(&cloud, &format!("ITEM_{number}"), now).await, Some(expected));
    }
    // A newer object may have an id that the known index lacks.
    let now = NOW + 40_000;
    house.insert("NEW".to_owned(), vec![clean_auction(1, Coins::of_hundredths(900))]);
    record_listings(&cloud, now, &house).await;
    assert_eq!(price(&cloud, "NEW", now).await, Some(9.0));
    assert_eq!(price(&cloud, "UNKNOWN", now).await, Some(0.0));
    std::fs::remove_file(cloud.listings().join("listings")).unwrap();
    assert_eq!(price(&cloud, "OTHER", now).await, None, "an object that cannot be read may have the id");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_delayed_run_never_replaces_later_auctions() {
    let cloud = start_with(one_instance_each()).await;
    let [first, second] = [listings_of(&cloud), listings_of(&cloud)];
    let replace = async |listings: &files::listings::Listings, price: u64, updated: i64| {
        let object = object(&house_at(price), NOW, updated);
        listings.replace(&object, UnixMilliseconds::new(NOW)).await.unwrap()
    };
    assert!(replace(&first, 100, NOW).await);
    assert!(replace(&second, 200, NOW + 1).await);
    // It still knows the version that it has written.
    assert!(!replace(&first, 300, NOW).await);
    assert_eq!(price(&cloud, "HYPERION", NOW).await, Some(2.0));
    assert!(replace(&first, 400, NOW + 1).await, "auctions of the same refresh");
    assert!(!replace(&second, 500, NOW - 1).await);
    // A time that is far ahead of the clock is wrong, and must not stop the others.
    assert!(replace(&second, 600, NOW + 3 * MINUTE).await);
    assert!(replace(&first, 700, NOW + 2).await);
    cloud.kill("auctions-listings").await.unwrap();
    assert_eq!(price(&cloud, "HYPERION", NOW).await, Some(7.0));
}

/// The object has as many auctions and ids as the house of the game, with the items of a captured page.
#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn sixty_thousand_auctions_take_at_most_six_and_a_half_megabytes() {
    const AUCTIONS: usize = 60_000;
    /// So that there are 6,500 ids.
    const VARIANTS: usize = 15;
    const MOST_BYTES: u64 = 6_500_000;
    let cloud = start_with(one_instance_each()).await;
    let page = capture(PAGE);
    let mut buffers = Buffers::default();
    let rows = page["auctions"].as_array().unwrap().iter().filter(|row| row["bin"] == true);
    let rows: Vec<_> =
        rows.map(|row| (row, read(row["item_bytes"].as_str().unwrap(), &mut buffers).unwrap())).collect();
    let rng = &mut Rng::with_seed(1);
    let mut house = House::new();
    for number in 0..AUCTIONS {
        let (row, Item { id, also, count, properties }) = &rows[number % rows.len()];
        let price = row["starting_bid"].as_u64().unwrap();
        // Copies differ, or they would compress too well.
        let mut properties = properties.clone();
        if let Some(levels) = &mut properties.enchantments {
            levels.retain(|_, level| {
                *level = rng.u8(1..=7);
                rng.u8(..4) > 0
            });
        }
        let listing = Listing {
            price: Coins::of_one(price + rng.u64(0..=price / 3), *count),
            auction: AuctionId::of_bytes(rng.u128(..).to_be_bytes()),
            amount: *count,
            end: row["end"].as_i64().unwrap() + rng.i64(0..14 * 24 * 60 * MINUTE),
            properties,
        };
        let variant = rng.usize(..VARIANTS);
        for id in [id].into_iter().chain(also) {
            house.entry(format!("{}_{variant}", id.as_str())).or_default().push(listing.clone());
        }
    }
    assert!((6_000..7_000).contains(&house.len()), "{} ids", house.len());
    record_listings(&cloud, NOW, &house).await;
    let bytes = std::fs::metadata(cloud.listings().join("listings")).unwrap().len();
    println!("{bytes} bytes for {AUCTIONS} auctions of {} ids", house.len());
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

/// A cloud that has recorded the captured auctions at [`START`], and the data of `/v1/auctions/prices`.
async fn captured_auctions() -> (Cloud, Value) {
    let cloud = start().await;
    let page = capture(PAGE);
    let time = page["lastUpdated"].as_i64().unwrap();
    serve(&cloud, time, page["auctions"].as_array().unwrap(), &json!([]));
    record(&cloud, RECORDER, START).await;
    let prices = get_at(&cloud, "/v1/auctions/prices", START * 1_000).await.data();
    (cloud, prices)
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn the_lowest_captured_auction_of_every_item_is_its_lowest_price() {
    let (cloud, prices) = captured_auctions().await;
    let now = START * 1_000;
    let items = prices["items"].as_array().unwrap();
    assert!(items.len() > 400, "{} items", items.len());
    for item in items {
        let id = item["id"].as_str().unwrap();
        let data = get_at(&cloud, &path(id, "&limit=2"), now).await.data();
        let prices_path = path(id, "").replace("listings?id=", "prices?ids=");
        let lowest = get_at(&cloud, &prices_path, now).await.data();
        let lowest = &lowest["items"][0];
        let listings = &data["listings"];
        assert_eq!(data["lastUpdated"], prices["lastUpdated"]);
        let found =
            json!([data["count"], listings[0]["price"], listings[0]["auction"], listings[1]["price"]]);
        assert_eq!(
            found,
            json!([item["listings"], item["lowest"], lowest["auction"], item["second"]]),
            "{id}"
        );
    }
    // After a minute without a new page, the object is of the later minute.
    record(&cloud, RECORDER, START + MINUTE_S).await;
    expect_clean_logs(&cloud);
}

/// Returns filters that the auction of a response passes, as a query, and the data's `filters` with them.
/// Each filter that applies is there or not.
fn filters_of(auction: &Value, rng: &mut Rng) -> (String, Value) {
    let enchantments = auction["enchantments"].as_object().into_iter().flatten();
    let wanted: serde_json::Map<_, _> =
        enchantments.take(3).map(|(name, level)| (name.clone(), level.clone())).collect();
    let text = wanted.iter().map(|(name, level)| format!("{name}:{level}")).collect::<Vec<_>>().join(",");
    let names = [
        ("clean", "clean"),
        ("min_level", "level"),
        ("min_stars", "stars"),
        ("recombobulated", "recombobulated"),
        ("reforge", "reforge"),
        ("max_price", "price"),
    ];
    let mut query = String::new();
    let mut filters = json!({
        "clean": null, "min_level": 0, "min_stars": 0, "recombobulated": null, "reforge": null, "enchantments": {},
        "max_price": 1_000_000_000_000_u64,
    });
    for (filter, property) in names {
        let value = &auction[property];
        // A price in hundredths is no value of `max_price`.
        let value = if property == "price" { &json!(value.as_f64().unwrap().ceil()) } else { value };
        if !value.is_null() && rng.bool() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            query.extend(["&", filter, "=", text.trim_end_matches(".0")]);
            filters[filter] = value.clone();
        }
    }
    if !wanted.is_empty() && rng.bool() {
        query.extend(["&enchantments=", &text]);
        filters["enchantments"] = Value::Object(wanted);
    }
    (query, filters)
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn filters_find_the_captured_auctions_that_a_naive_filter_finds() {
    let (cloud, prices) = captured_auctions().await;
    let seed = fastrand::u64(..);
    let rng = &mut Rng::with_seed(seed);
    let mut left_out = 0;
    for item in prices["items"].as_array().unwrap() {
        let id = item["id"].as_str().unwrap();
        let all = get_at(&cloud, &path(id, "&limit=100"), START * 1_000).await.data();
        let all = all["listings"].as_array().unwrap();
        let wanted = rng.choice(all).unwrap();
        let (query, filters) = filters_of(wanted, rng);
        let passing: Vec<_> = all.iter().filter(|auction| passes(auction, &filters)).collect();
        assert!(passing.contains(&wanted), "seed {seed}: {id}{query}");
        let data = get_at(&cloud, &path(id, &format!("{query}&limit=100")), START * 1_000).await.data();
        assert_eq!(data["listings"], json!(passing), "seed {seed}: {id}{query}");
        left_out += all.len() - passing.len();
    }
    assert!(left_out > 50, "seed {seed}: the filters leave out {left_out} auctions");
    expect_clean_logs(&cloud);
}
