//! With the gateway's stage cache, different requests never share a response, and a repeated request gets the
//! same bytes until the route's TTL ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use common::routes::{Location, VERSION_1};
use local::{Cloud, Options};

use crate::support::{
    Response, cache_authorization, examples, expect_clean_logs, get, line_of, one_instance_each,
    record_prices, request_with, simulator, start_with, with_parameters,
};

/// 2026-11-22 13:00:00 UTC, at which no data that an example requests has expired: a request for expired data
/// reads nothing, so it cannot fail.
const NOW_MS: i64 = 1_795_352_400_000;

/// Starts a cloud with a stage cache, and a clock that is stopped at [`NOW_MS`]. Also returns the lines of its
/// access log.
async fn start() -> (Cloud, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let options = Options {
        access_log: Some(Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()))),
        ..with_parameters(one_instance_each(), &[("GatewayCache", "on")])
    };
    let cloud = start_with(options).await;
    cloud.clock().stop_at(NOW_MS);
    record_prices(&cloud, NOW_MS).await;
    (cloud, lines)
}

/// The source of the last response: a function, or `cache`.
fn source(lines: &Mutex<Vec<String>>) -> String {
    lines.lock().unwrap().last().unwrap().rsplit(' ').next().unwrap().to_owned()
}

/// Values that a careless cache key would confuse, percent-encoded as in a request.
const TRICKY: [&str; 15] = [
    "Q",
    "q",
    "Q%20",
    "%20Q",
    "Q%2B",
    "Q%26limit%3D1",
    "Q%3Flimit%3D1",
    "Q%3D",
    "Q%3D1",
    "Q%252520",
    "Q%2520",
    "Q%2F",
    "Q%23",
    "Q%0A",
    "Q%00",
];

/// A refusal quotes the value, so a response that belongs to another request is noticed.
#[tokio::test]
async fn no_two_values_of_a_parameter_share_a_response() {
    let (cloud, lines) = start().await;
    for route in VERSION_1 {
        for parameter in route.parameters {
            let mut seen = BTreeMap::<String, String>::new();
            for value in TRICKY {
                let name = parameter.name;
                let path = match parameter.location {
                    Location::Path => route.path.replace(&format!("{{{name}}}"), value),
                    Location::Query => request_with(route, name, &format!("{name}={value}")),
                };
                let first = get(&cloud, &path).await;
                assert_eq!(source(&lines), route.function, "{path}");
                let again = get(&cloud, &path).await;
                assert_eq!(source(&lines), "cache", "{path}");
                expect_same(&again, &first);
                if let Some(other) = seen.insert(first.text.clone(), path.clone()) {
                    // Only different spellings of one player's name may share a response.
                    let same =
                        (value.to_lowercase(), other.rsplit(['=', '/']).next().unwrap().to_lowercase());
                    assert_eq!(same.0, same.1, "{path} and {other}: {}", first.text);
                }
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// Groups of requests that differ only in where one parameter ends and the next begins.
const GROUPS: [&[&str]; 4] = [
    &[
        "/v1/bazaar?mode=item&id=Q",
        "/v1/bazaar?mode=item%26id=Q",
        "/v1/bazaar?mode=item",
        "/v1/bazaar?mode=item&id=Q%26limit%3D2",
        "/v1/bazaar?mode=",
        "/v1/bazaar?mode=flips&limit=0",
        "/v1/bazaar?mode=flips%26limit%3D0",
        "/v1/bazaar?mode=flips&limit=0%26mode%3Dlist",
        "/v1/bazaar?mode=items&ids=Q,R",
        "/v1/bazaar?mode=items&ids=R,Q",
        "/v1/bazaar?mode=items&ids=Q%26ids%3DR",
        "/v1/bazaar?mode=prices",
    ],
    &[
        "/v1/bazaar/history?item_id=A&range=x",
        "/v1/bazaar/history?item_id=A%26range=x",
        "/v1/bazaar/history?range=x%26item_id%3DA&item_id=A",
        "/v1/bazaar/history?item_id=A",
        "/v1/bazaar/history?item_id=A&range=1h",
    ],
    &[
        "/v1/bazaar/candles/all?interval=1d&opened_at=2026-01-01T00:00:00Z",
        "/v1/bazaar/candles/all?interval=1d&opened_at=2026-01-01T00:00:00Z&format=csv",
        "/v1/bazaar/candles/all?interval=1d&opened_at=2026-01-02T00:00:00Z",
        "/v1/bazaar/candles/all?interval=1d%26opened_at=2026-01-01T00:00:00Z",
        "/v1/bazaar/candles/all?opened_at=2026-01-01T00:00:00Z%26interval%3D1d",
    ],
    &["/v1/auctions?page=0", "/v1/auctions?page=1", "/v1/auctions?page=01", "/v1/auctions?page="],
];

#[tokio::test]
async fn no_two_queries_share_a_response() {
    let (cloud, lines) = start().await;
    for group in GROUPS {
        let mut responses = Vec::new();
        for path in group {
            let response = get(&cloud, path).await;
            assert_ne!(source(&lines), "cache", "{path} must not be cached");
            responses.push(response);
        }
        for (path, first) in group.iter().zip(&responses) {
            let again = get(&cloud, path).await;
            if first.text.len() <= 1_048_576 {
                assert_eq!(source(&lines), "cache", "{path}");
                expect_same(&again, first);
            }
        }
        // Only different spellings of the same page may share a response.
        for (position, (path, response)) in group.iter().zip(&responses).enumerate() {
            for (other, earlier) in group.iter().zip(&responses).take(position) {
                let is_equivalent = path.ends_with("page=01") && other.ends_with("page=1");
                assert!(
                    is_equivalent || response.text != earlier.text,
                    "{path} and {other}: {:.300}",
                    response.text
                );
            }
        }
    }
    expect_clean_logs(&cloud);
}

/// AWS does not document which of two values becomes part of the cache key. So a response to both could reach
/// a client that sent only one of them.
#[tokio::test]
async fn two_different_values_of_a_parameter_fail_and_nothing_is_stored() {
    let (cloud, lines) = start().await;
    for route in VERSION_1 {
        for parameter in route.parameters.iter().filter(|parameter| parameter.location == Location::Query) {
            let name = parameter.name;
            for values in [format!("{name}=Q1&{name}=Q2"), format!("{name}=Q2&x=1&{name}=Q1&{name}=Q1")] {
                let path = request_with(route, name, &values);
                for _ in 0..2 {
                    let response = get(&cloud, &path).await;
                    response.error("INTERNAL_ERROR");
                    assert_eq!(source(&lines), route.function, "{path}");
                    let line = line_of(&cloud, &response).await;
                    let cause = line["cause"].as_str().unwrap();
                    assert!(cause.contains(&format!("'{name}' must be given once")), "{path}: {line}");
                }
            }
            for value in ["Q1", "Q2"] {
                let path = request_with(route, name, &format!("{name}={value}"));
                let alone = get(&cloud, &path).await;
                assert_eq!(source(&lines), route.function, "{path}");
                // The same value twice is the same request.
                let twice = get(&cloud, &format!("{path}&{name}={value}")).await;
                assert_eq!(source(&lines), "cache", "{path}");
                expect_same(&twice, &alone);
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_key_in_a_parameter_does_not_reach_the_log() {
    let (cloud, _) = start().await;
    let key = cloud.keys().unwrap().starter.expose().to_owned();
    let path = format!("/v1/bazaar?mode=item&id={key}&id=x");
    let response = get(&cloud, &path).await;
    response.error("INTERNAL_ERROR");
    let line = line_of(&cloud, &response).await;
    assert_eq!(line["status"], 400, "{line}");
    assert!(line["cause"].as_str().unwrap().contains("'gd_…"), "{line}");
    assert!(!cloud.logs().concat().contains(&key[..12]), "{:?}", cloud.logs());
}

/// Panics unless both responses have the same body and the same headers, except the request id and the date.
#[track_caller]
fn expect_same(again: &Response, first: &Response) {
    assert_eq!(again.status, first.status);
    assert!(again.text == first.text, "the bodies differ");
    let lasting = |response: &Response| {
        let mut headers = response.headers.clone();
        for header in ["x-amzn-requestid", "date"] {
            headers.remove(header);
        }
        headers
    };
    assert_eq!(lasting(again), lasting(first));
}

#[tokio::test]
async fn a_cached_response_is_the_same_until_its_ttl_ends() {
    let (cloud, lines) = start().await;
    for example in examples() {
        record_prices(&cloud, cloud.clock().now_ms()).await;
        let first = get(&cloud, example.path).await;
        assert!(first.data().is_object());
        // API Gateway does not cache larger bodies.
        let expected = if first.text.len() <= 1_048_576 { "cache" } else { example.route.function };
        for undeclared in ["", "&x=1"] {
            let separator = if example.path.contains('?') { "" } else { "?" };
            let path = format!("{}{separator}{undeclared}", example.path);
            let again = get(&cloud, &path).await;
            assert_eq!(source(&lines), expected, "{path}");
            if expected == "cache" {
                assert!(again.cached(), "{path}");
                expect_same(&again, &first);
            }
        }
        cloud.clock().advance(example.route.cache);
        get(&cloud, example.path).await;
        assert_eq!(source(&lines), example.route.function, "{} after its TTL", example.path);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_failure_is_never_cached() {
    let (cloud, lines) = start().await;
    // Within the time for which the gateway caches it, the authorizer's decision does not depend on the
    // table.
    cache_authorization(&cloud).await;
    let [object, hidden] = ["listings", "hidden"].map(|name| cloud.listings().join(name));
    for example in examples() {
        for path in &example.upstream {
            simulator(&cloud).set_fault(path, simulator::Fault::status(503));
        }
        cloud.dynamodb().set_fault(local::Fault::missing_table());
        std::fs::rename(&object, &hidden).unwrap();
        for _ in 0..2 {
            get(&cloud, example.path).await.error("INTERNAL_ERROR");
            assert_eq!(source(&lines), example.route.function);
        }
        simulator(&cloud).clear_faults();
        cloud.dynamodb().clear_faults();
        std::fs::rename(&hidden, &object).unwrap();
        // After a failure, the function pauses its requests to the upstream for at most two seconds.
        cloud.clock().advance(std::time::Duration::from_secs(2));
        assert!(get(&cloud, example.path).await.data().is_object());
        assert_eq!(source(&lines), example.route.function);
    }
    expect_clean_logs(&cloud);
}
