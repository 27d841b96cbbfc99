//! Each function caches fetched data for the TTL of its route. `meta.cached` says whether a response came
//! from the cache, and headers say when the data was fetched and when it expires.

use std::time::{Duration, Instant};

use common::routes::{AUCTIONS, Expiry, PROFILE};
use local::{Cloud, Options};
use serde_json::json;
use simulator::Fault;

use crate::provider::NOW;
use crate::support::{
    NAME_SERVICE, Response, examples, expect_clean_logs, get, get_at, live_examples, one_instance_each,
    record_prices, serve_small_bodies, simulator, start_with, with_parameters,
};

/// 2026-04-28 15:03:20.999 UTC.
const START: i64 = 1_777_388_600_999;

const BAZAAR: &str = "/v2/skyblock/bazaar";
const AUCTION_PAGES: &str = "/v2/skyblock/auctions";
const NAMES: &str = "/users/profiles/minecraft/*";
const PROFILES: &str = "/v2/skyblock/profiles";

/// Panics unless the upstream has received this number of requests for `path`.
#[track_caller]
fn expect_requests(cloud: &Cloud, path: &str, count: u64) {
    assert_eq!(simulator(cloud).requests(path), count, "requests for {path}");
}

fn milliseconds(duration: Duration) -> i64 {
    duration.as_millis().try_into().unwrap()
}

#[tokio::test]
async fn a_response_is_cached_to_the_last_millisecond_of_its_ttl_and_its_headers_say_so() {
    let cloud = start_with(one_instance_each()).await;
    serve_small_bodies(&cloud);
    record_prices(&cloud, START).await;
    let date = |time_ms: i64| {
        let seconds = time_ms / 1_000 % 86_400;
        format!("Tue, 28 Apr 2026 {:02}:{:02}:{:02} GMT", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    };
    for example in examples() {
        let ttl = milliseconds(example.route.cache);
        for (fetched_at, requests) in [(START, 1), (START + ttl, 2)] {
            let first = get_at(&cloud, example.path, fetched_at).await;
            assert!(!first.cached(), "{} {requests}", example.path);
            assert_eq!(first.headers["last-modified"], date(fetched_at), "{}", example.path);
            assert_eq!(first.headers["expires"], date(fetched_at + ttl), "{}", example.path);
            let queries = cloud.dynamodb().requests("Query");
            for after in [0, ttl - 1] {
                get_at(&cloud, example.path, fetched_at + after).await.expect_replay_of(&first);
            }
            for path in &example.upstream {
                // Names are cached for longer than profiles, so the name service gets only one request.
                let is_name = path.starts_with(NAME_SERVICE);
                expect_requests(&cloud, path, if is_name { 1 } else { requests });
            }
            assert_eq!(cloud.dynamodb().requests("Query"), queries, "{}", example.path);
        }
    }
    expect_clean_logs(&cloud);
}

/// The HTTP date in the header, in Unix seconds.
fn second_of(headers: &hyper::HeaderMap, name: &str) -> i64 {
    jiff::fmt::rfc2822::parse(headers[name].to_str().unwrap()).unwrap().timestamp().as_second()
}

/// Sends a request at `time_ms`, and returns its response and the whole seconds by which its `Last-Modified`
/// is later than `time_ms` minus `age` seconds. Panics if these are more than the fetch can have taken.
async fn fetch_at(cloud: &Cloud, path: &str, time_ms: i64, age: i64) -> (Response, i64) {
    let begun = Instant::now();
    let response = get_at(cloud, path, time_ms).await;
    let took = i64::try_from(begun.elapsed().as_secs()).unwrap();
    let late = second_of(&response.headers, "last-modified") - (time_ms / 1_000 - age);
    assert!((0..=took).contains(&late), "{path}: {late} s late after {took} s");
    (response, late)
}

/// The provider's network can serve a copy that is hours old.
#[tokio::test]
async fn last_modified_is_the_time_of_the_fetch_minus_the_age_of_the_copy() {
    let cloud = start_with(one_instance_each()).await;
    let days = (START..).step_by(172_800_000);
    for ((age, seconds), fetched_at) in [
        ("0", 0),
        ("17076", 17_076),
        (" 604800 ", 604_800),
        ("604801", 0),
        ("18446744073709551616", 0),
        ("-1", 0),
        ("+1", 0),
        ("1.5", 0),
        ("1e3", 0),
        ("5, 6", 0),
        ("soon", 0),
        ("", 0),
    ]
    .into_iter()
    .zip(days)
    {
        for example in live_examples() {
            let path = example.upstream.last().unwrap();
            simulator(&cloud).set_fault(path, Fault::default().with_header("Age", age));
            let (first, late) = fetch_at(&cloud, example.path, fetched_at, seconds).await;
            first.data();
            let ttl = milliseconds(example.route.cache);
            let expires = (fetched_at + ttl) / 1_000 + late;
            assert_eq!(second_of(&first.headers, "expires"), expires, "{}, Age {age:?}", example.path);
            get_at(&cloud, example.path, fetched_at + ttl - 1).await.expect_replay_of(&first);
            // The value stays as old as it is, also if it is stale.
            simulator(&cloud).set_fault(path, Fault::status(503).with_header("Age", "5"));
            get_at(&cloud, example.path, fetched_at + ttl).await.expect_replay_of(&first);
        }
    }
}

#[tokio::test]
async fn each_page_of_auctions_and_each_retried_response_has_its_own_age() {
    let cloud = start_with(one_instance_each()).await;
    let set = |path: &str, fault: Fault| simulator(&cloud).set_fault(path, fault);
    set("/v2/skyblock/auctions?page=0", Fault::default().with_header("Age", "50"));
    set("/v2/skyblock/auctions?page=1", Fault::default());
    set("/v2/skyblock/auctions?page=2", Fault::default().with_header("Age", "7"));
    for (page, age) in [(1, 0), (0, 50), (2, 7)] {
        fetch_at(&cloud, &format!("/v1/auctions?page={page}"), START, age).await;
    }
    set(BAZAAR, Fault::status(503).with_header("Age", "30").times(1));
    fetch_at(&cloud, "/v1/bazaar?mode=list", START, 0).await;
}

#[tokio::test]
async fn both_modes_of_the_items_share_their_pause() {
    const ITEMS: &str = "/v2/resources/skyblock/items";
    let cloud = start_with(one_instance_each()).await;
    simulator(&cloud).set_fault(ITEMS, Fault::status(503));
    for (turn, now) in (1..).zip([START, START + 3_600_000]) {
        get_at(&cloud, "/v1/items", now).await.error("INTERNAL_ERROR");
        let paused = get_at(&cloud, "/v1/items?mode=full", now).await;
        paused.error("INTERNAL_ERROR");
        assert_eq!(paused.headers["retry-after"], "1");
        // A failed request is sent once more.
        expect_requests(&cloud, ITEMS, 2 * turn);
    }
    simulator(&cloud).clear_faults();
    for mode in ["full", "basic"] {
        assert!(!get_at(&cloud, &format!("/v1/items?mode={mode}"), START + 7_200_000).await.cached());
    }
}

#[tokio::test]
async fn no_response_has_a_header_that_would_be_wrong_once_it_is_replayed() {
    let cloud = start_with(one_instance_each()).await;
    let others =
        ["/", "/v1/nowhere", "/v1/auctions?page=-1", "/v1/profile/nobody_here", "/v1/bazaar?mode=item&id=Q"];
    for path in examples().map(|example| example.path).chain(others) {
        for _ in 0..2 {
            let response = get(&cloud, path).await;
            for header in ["age", "etag", "ratelimit-remaining", "ratelimit-reset", "x-cache"] {
                assert!(
                    !response.headers.contains_key(header),
                    "{path} has {header}: {:?}",
                    response.headers
                );
            }
        }
    }
}

/// A shared cache between the service and its clients, such as a company's proxy, could serve a key owner's
/// responses to other clients.
#[tokio::test]
async fn no_response_may_be_stored_by_a_shared_cache() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    for example in examples() {
        let path = example.path;
        let is_final = example.route.expiry == Expiry::Never;
        let expected = if is_final { "private, max-age=86400, immutable" } else { "private" };
        for _ in 0..2 {
            assert_eq!(get(&cloud, path).await.headers["cache-control"], expected, "{path}");
        }
    }
    for path in ["/v1/nowhere", "/v1/auctions?page=-1", "/v1/profile/nobody_here"] {
        assert_eq!(get(&cloud, path).await.headers["cache-control"], "no-store", "{path}");
    }
}

#[tokio::test]
async fn all_modes_of_the_bazaar_share_one_snapshot() {
    let queries = [
        "?mode=full",
        "?mode=list",
        "?mode=item&id=INK_SACK:3",
        "?mode=flips&limit=3",
        "?mode=items&ids=INK_SACK:3,X",
        "?mode=book&id=INK_SACK:3",
        "?mode=prices",
    ];
    let cloud = start_with(one_instance_each()).await;
    for turn in 0..queries.len() {
        // Each turn starts with a different mode. The first request fetches the snapshot for all modes.
        let now = START + i64::try_from(turn).unwrap() * 60_000;
        for position in 0..queries.len() {
            let query = queries[(turn + position) % queries.len()];
            let response = get_at(&cloud, &format!("/v1/bazaar{query}"), now).await;
            assert_eq!(response.cached(), position > 0, "{query} in position {position}");
        }
        get_at(&cloud, "/v1/bazaar?mode=item&id=NO_SUCH_ITEM", now).await.error("NOT_FOUND");
        get_at(&cloud, "/v1/bazaar?mode=book&id=NO_SUCH_ITEM", now).await.error("NOT_FOUND");
        assert!(get_at(&cloud, "/v1/bazaar?mode=items&ids=NO_SUCH_ITEM", now).await.cached());
        assert!(get_at(&cloud, "/v1/bazaar?mode=book&id=X", now).await.cached());
        expect_requests(&cloud, BAZAAR, u64::try_from(turn).unwrap() + 1);
    }
}

#[tokio::test]
async fn each_book_and_each_list_of_ids_has_its_own_response() {
    let cloud = start_with(one_instance_each()).await;
    get_at(&cloud, "/v1/bazaar?mode=list", START).await.data();
    let get =
        async |query: &str, after: i64| get_at(&cloud, &format!("/v1/bazaar?{query}"), START + after).await;
    let ids = async |query: &str| {
        let data = get(query, 1).await.data();
        data["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(ids("mode=items&ids=X,Y").await, ["X", "Y"]);
        assert_eq!(ids("mode=items&ids=Y,X").await, ["Y", "X"]);
        assert_eq!(ids("mode=items&ids=Y,X,Y,Y").await, ["Y", "X"]);
        assert_eq!(ids("mode=items&ids=Y").await, ["Y"]);
        for id in ["X", "Y", "INK_SACK:3"] {
            assert_eq!(get(&format!("mode=book&id={id}"), 1).await.data()["id"], id);
        }
    }
    for (minute, query) in (0..).zip(["mode=items&ids=X,Y", "mode=book&id=X"]) {
        let before = get(query, minute * 60_000 + 4_999).await;
        get(query, minute * 60_000 + 1).await.expect_replay_of(&before);
        // After the market has changed, a response from the earlier market must not be served.
        cloud.clock().advance(Duration::from_mins(1));
        let after = get(query, (minute + 1) * 60_000).await;
        assert!(!after.cached(), "{query}");
        assert_ne!(after.data(), before.data(), "{query}");
    }
    expect_requests(&cloud, BAZAAR, 3);
}

#[tokio::test]
async fn all_spellings_of_a_name_share_a_cache_entry() {
    let cloud = start_with(one_instance_each()).await;
    let first = get_at(&cloud, "/v1/profile/Technoblade", START).await;
    for spelling in ["technoblade", "TECHNOBLADE", "tEchnoBlade"] {
        get_at(&cloud, &format!("/v1/profile/{spelling}"), START).await.expect_replay_of(&first);
    }
    expect_requests(&cloud, NAMES, 1);
    expect_requests(&cloud, PROFILES, 1);
    assert!(!get_at(&cloud, "/v1/profile/technoblade_", START).await.cached());
    expect_requests(&cloud, PROFILES, 2);
}

#[tokio::test]
async fn an_expired_404_is_not_served_while_the_provider_fails() {
    let cloud = start_with(one_instance_each()).await;
    simulator(&cloud).set_fault(NAMES, Fault::status(204));
    simulator(&cloud).set_fault(AUCTION_PAGES, Fault::status(404));
    let paths = [("/v1/auctions?page=1", &AUCTIONS, AUCTION_PAGES), ("/v1/profile/Nobody", &PROFILE, NAMES)];
    for (path, route, upstream) in paths {
        get_at(&cloud, path, START).await.error("NOT_FOUND");
        simulator(&cloud).set_fault(upstream, Fault::status(503));
        let ttl = milliseconds(route.cache);
        get_at(&cloud, path, START + ttl - 1).await.error("NOT_FOUND");
        get_at(&cloud, path, START + ttl).await.error("INTERNAL_ERROR");
        simulator(&cloud).set_fault(upstream, Fault::status(429).with_header("Retry-After", "20"));
        // The pause after the failure is over.
        let limited = get_at(&cloud, path, START + ttl + 10_000).await;
        limited.error("INTERNAL_ERROR");
        assert_eq!(limited.headers["retry-after"], "20", "{path}");
    }
}

/// A key may send a burst of requests. If each number beyond the last were asked of the provider, one key
/// could use up its limit.
#[tokio::test]
async fn an_auction_page_beyond_the_last_is_a_404_without_a_request_for_it() {
    let cloud = start_with(one_instance_each()).await;
    // All pages are of one refresh, so that there are as many as page 0 counts.
    cloud.clock().stop_at(START);
    let page = async |page: i64, after: i64| {
        get_at(&cloud, &format!("/v1/auctions?page={page}"), START + after).await
    };
    // A slow fetch counts as later, so page 0 has expired only some time after its TTL.
    for (requests, after) in (1..).zip([0, 45_000, 90_000]) {
        for number in (9_000..9_050).chain([4_294_967_295]) {
            page(number, after).await.error("NOT_FOUND");
        }
        // Page 0 was fetched for the first of these requests, and is in the cache.
        assert!(page(0, after).await.cached());
        expect_requests(&cloud, AUCTION_PAGES, requests);
    }
    let pages = page(0, 90_000).await.data()["totalPages"].as_i64().unwrap();
    assert!(page(pages - 1, 90_000).await.data()["auctions"].as_array().is_some());
    page(pages, 90_000).await.error("NOT_FOUND");
    expect_requests(&cloud, AUCTION_PAGES, 4);
}

#[tokio::test]
async fn an_auction_page_that_page_0_counts_takes_one_request_even_if_page_0_has_expired() {
    let cloud = start_with(one_instance_each()).await;
    cloud.clock().stop_at(START);
    let page = async |page: u64, now: i64| get_at(&cloud, &format!("/v1/auctions?page={page}"), now).await;
    let pages = page(0, START).await.data()["totalPages"].as_u64().unwrap();
    // More pages than an instance caches.
    for number in 1..pages {
        assert!(!page(number, START + 60_000).await.cached(), "{number}");
    }
    expect_requests(&cloud, AUCTION_PAGES, pages);
    // An instance that has no page asks for page 0 first.
    cloud.kill("auctions").await.unwrap();
    page(7, START).await.data();
    assert!(page(0, START).await.cached());
    expect_requests(&cloud, AUCTION_PAGES, pages + 2);
}

#[tokio::test]
async fn the_least_recently_requested_auction_page_is_evicted() {
    let cloud = start_with(one_instance_each()).await;
    let page = async |page: u64| get_at(&cloud, &format!("/v1/auctions?page={page}"), START).await.cached();
    assert!(!page(0).await && !page(1).await);
    // An instance caches about twenty pages.
    for number in 2..30 {
        assert!(!page(number).await, "page {number}");
        assert!(page(0).await, "page 0 after page {number}");
    }
    expect_requests(&cloud, AUCTION_PAGES, 30);
    assert!(page(29).await);
    assert!(!page(1).await, "page 1 must have been evicted");
    expect_requests(&cloud, AUCTION_PAGES, 31);
    expect_clean_logs(&cloud);
}

/// Options for a cloud with a stage cache, which replays the responses of functions.
fn behind_a_gateway_cache() -> Options {
    with_parameters(one_instance_each(), &[("GatewayCache", "on")])
}

#[tokio::test]
async fn behind_a_gateway_cache_only_a_response_too_large_for_it_is_marked_as_fresh() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    cloud.clock().stop_at(NOW);
    record_prices(&cloud, NOW).await;
    for example in examples() {
        let first = get(&cloud, example.path).await;
        let second = get(&cloud, example.path).await;
        let is_stored = first.text.len() <= 1_048_576;
        assert_eq!(
            is_stored,
            example.route.function != "bazaar",
            "{} bytes: {}",
            first.text.len(),
            example.path
        );
        assert_eq!((first.cached(), second.cached()), (is_stored, true), "{}", example.path);
        for path in &example.upstream {
            expect_requests(&cloud, path, 1);
        }
    }
    for mode in ["list", "item&id=X", "flips", "items&ids=X,Y", "book&id=X"] {
        cloud.clock().advance(Duration::from_secs(5));
        assert!(get(&cloud, &format!("/v1/bazaar?mode={mode}")).await.cached(), "{mode}");
    }
    let whale = "/v1/profile/whale";
    assert!(!get(&cloud, whale).await.cached());
    assert!(get(&cloud, whale).await.cached());
    expect_clean_logs(&cloud);
}

/// All modes serve the same snapshot until the provider refreshes it.
#[tokio::test]
async fn behind_a_gateway_cache_a_function_fetches_the_bazaar_when_news_is_due() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    cloud.clock().stop_at(START);
    let mut refreshes = std::collections::BTreeSet::new();
    for turn in 0..30 {
        let now = cloud.clock().now_ms();
        let full = get(&cloud, "/v1/bazaar?mode=full").await;
        let refreshed_at = full.data()["lastUpdated"].as_i64().unwrap();
        refreshes.insert(refreshed_at);
        let age = now - refreshed_at;
        // Data can be as old as the provider's interval plus the TTL.
        assert!((0..25_300).contains(&age), "in turn {turn}, the data is {age} ms old");
        for mode in ["item&id=INK_SACK:3", "book&id=INK_SACK:3", "flips", "items&ids=INK_SACK:3"] {
            let response = get(&cloud, &format!("/v1/bazaar?mode={mode}")).await;
            assert!(response.cached(), "{mode}");
            if let Some(shown) = response.data()["lastUpdated"].as_i64() {
                assert_eq!(shown, refreshed_at, "{mode}");
            }
        }
        cloud.clock().advance(Duration::from_secs(5));
    }
    assert!(refreshes.len() >= 6, "{refreshes:?}");
    expect_a_request_per_refresh(&cloud, BAZAAR, refreshes.len());
    expect_clean_logs(&cloud);
}

/// Panics unless the upstream has received about one request for `path` per refresh. Refreshes are not
/// exactly on time, so up to three further requests are allowed.
#[track_caller]
fn expect_a_request_per_refresh(cloud: &Cloud, path: &str, refreshes: usize) {
    let requests = usize::try_from(simulator(cloud).requests(path)).unwrap();
    assert!((refreshes..=refreshes + 3).contains(&requests), "{requests} requests, {refreshes} refreshes");
}

/// A bazaar with one product, refreshed at this time in Unix milliseconds.
fn bazaar_of(last_updated: i64) -> String {
    let status = json!({
        "productId": "X", "sellPrice": 1.0, "buyPrice": 2.0, "sellVolume": 1, "buyVolume": 1,
        "sellMovingWeek": 1, "buyMovingWeek": 1, "sellOrders": 1, "buyOrders": 1,
    });
    let product = json!({"product_id": "X", "sell_summary": [], "buy_summary": [], "quick_status": status});
    json!({"success": true, "lastUpdated": last_updated, "products": {"X": product}}).to_string()
}

#[tokio::test]
async fn behind_a_gateway_cache_the_headers_of_what_is_still_the_latest_are_those_of_a_fetch() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    simulator(&cloud).set_fault(BAZAAR, Fault::default().with_body(bazaar_of(START)));
    let path = "/v1/bazaar?mode=full";
    cloud.clock().stop_at(START);
    let first = get(&cloud, path).await;
    cloud.clock().advance(Duration::from_secs(5));
    let second = get(&cloud, path).await;
    assert_eq!(first.data(), second.data());
    let (known_at, fetched_at) =
        (second_of(&second.headers, "last-modified"), second_of(&first.headers, "last-modified"));
    assert_eq!(known_at, fetched_at + 5);
    assert_eq!(second_of(&second.headers, "expires"), known_at + 5);
    expect_requests(&cloud, BAZAAR, 1);
}

#[tokio::test]
async fn behind_a_gateway_cache_a_function_fetches_auctions_when_news_is_due() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    cloud.clock().stop_at(START);
    let mut refreshes = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let page = get(&cloud, "/v1/auctions?page=0").await.data();
        refreshes.insert(page["lastUpdated"].as_i64().unwrap());
        cloud.clock().advance(Duration::from_secs(30));
    }
    assert!(refreshes.len() >= 10, "{refreshes:?}");
    expect_a_request_per_refresh(&cloud, AUCTION_PAGES, refreshes.len());
}

/// If the provider has stopped refreshing, or the provider's clock is wrong, the function fetches after every
/// TTL.
#[tokio::test]
async fn behind_a_gateway_cache_news_is_overdue_after_the_provider_s_interval() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    for last_updated in [START - 20_000, START - 3_600_000, START + 60_000, 0, i64::MAX] {
        cloud.clock().stop_at(START);
        simulator(&cloud).set_fault(BAZAAR, Fault::default().with_body(bazaar_of(last_updated)));
        let before = simulator(&cloud).requests(BAZAAR);
        for turn in 1..4 {
            get(&cloud, "/v1/bazaar?mode=list").await.data();
            expect_requests(&cloud, BAZAAR, before + turn);
            cloud.clock().advance(Duration::from_secs(5));
        }
        cloud.clock().advance(Duration::from_hours(1));
        get(&cloud, "/v1/bazaar?mode=list").await.data();
    }
}

#[tokio::test]
async fn a_body_of_a_mebibyte_counts_as_cacheable_and_one_more_byte_does_not() {
    let cloud = start_with(behind_a_gateway_cache()).await;
    let around = r#"{"success":true,"data":{"mayor":{"name":"A","key":"a","perks":[]},"current":{"A":""},"election":{}},"meta":{"cached":true,"api_version":"v1"}}"#;
    for (bytes, cached) in [(1_048_576, true), (1_048_577, false)] {
        let filling = "x".repeat(bytes - around.len());
        let mayor = r#"{"name":"A","key":"a","perks":[]}"#;
        let body = format!(r#"{{"success":true,"mayor":{mayor},"current":{{"A":"{filling}"}}}}"#);
        simulator(&cloud).set_fault("/v2/resources/skyblock/election", Fault::default().with_body(body));
        let fresh = get(&cloud, "/v1/mayor").await;
        assert_eq!(fresh.cached(), cached, "{bytes} bytes");
        let replayed = get(&cloud, "/v1/mayor").await;
        assert!(replayed.cached());
        assert_eq!(replayed.text.len(), bytes);
        cloud.clock().advance(Duration::from_hours(1));
    }
}
