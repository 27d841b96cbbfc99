//! Every error of the contract (`functions/README.md`, Errors) reaches the client through the gateway, with
//! and without the stage cache. Routes that require a key serve data only with a valid key.

use std::time::Duration;

use common::auth::ApiKey;
use common::routes::Reads;
use hyper::Method;
use local::{Cloud, Fault};
use simulator::Fault as UpstreamFault;

use super::expect_no_secrets;
use super::rows::{account_row, key_row, numbered_key, put};
use crate::support::{
    KEY_HEADER, Response, examples, expect_clean_logs, one_instance_each, record_prices, send_with,
    simulator, start_with, with_parameters,
};

const PATH: &str = "/v1/mayor";

/// How long the gateway caches a decision of the authorizer.
const DECISION_CACHED_FOR: Duration = Duration::from_mins(1);
/// How long the authorizer caches rows.
const ROWS_CACHED_FOR: Duration = Duration::from_secs(5);

/// Starts the service with or without the stage cache, and with a stopped clock.
async fn start(gateway_cache: &str) -> Cloud {
    let cloud = start_with(with_parameters(one_instance_each(), &[("GatewayCache", gateway_cache)])).await;
    cloud.clock().stop();
    cloud
}

/// Sends `GET path` with these headers. Adds no key.
async fn get_with(cloud: &Cloud, path: &str, headers: &[(&str, &str)]) -> Response {
    send_with(&cloud.url(), Method::GET, path, headers).await
}

async fn get_with_key(cloud: &Cloud, path: &str, key: &ApiKey) -> Response {
    get_with(cloud, path, &[(KEY_HEADER, key.expose())]).await
}

/// Sends each request twice, because the second response may come from a cache.
#[tokio::test]
async fn every_error_of_the_contract_has_its_code_in_the_envelope() {
    for gateway_cache in ["off", "on"] {
        let cloud = start(gateway_cache).await;
        let (starter, lapsed, revoked) = {
            let keys = cloud.keys().unwrap();
            (keys.starter.expose(), keys.lapsed.expose(), keys.revoked.expose())
        };
        let of_nobody = numbered_key(1);
        let unknown = of_nobody.expose();
        for path in ["/users/*", "/v2/resources/skyblock/items"] {
            simulator(&cloud).set_fault(path, UpstreamFault::status(503));
        }
        let rows = [
            ("no key", PATH, None, "UNAUTHORIZED", "X-API-Key"),
            ("an empty key", PATH, Some(""), "UNAUTHORIZED", "https://dashboard.example"),
            ("a malformed key", PATH, Some("secret"), "UNAUTHORIZED", "https://dashboard.example"),
            ("an unknown key", PATH, Some(unknown), "UNAUTHORIZED", "https://dashboard.example"),
            ("a revoked key", PATH, Some(revoked), "UNAUTHORIZED", "https://dashboard.example"),
            ("a lapsed account", PATH, Some(lapsed), "FORBIDDEN", "starter or pro"),
            ("a bad parameter", "/v1/auctions?page=x", Some(starter), "BAD_REQUEST", "'page'"),
            ("no parameter", "/v1/bazaar/history", Some(starter), "BAD_REQUEST", "'item_id'"),
            ("a bad name", "/v1/profile/a-b", Some(starter), "BAD_REQUEST", "'username'"),
            ("an unknown item", "/v1/bazaar?mode=item&id=Q", Some(starter), "NOT_FOUND", "'Q'"),
            ("an unknown route", "/v1/nowhere", Some(starter), "NOT_FOUND", "GET /v1/nowhere"),
            ("an unknown route without a key", "/v1/nowhere", None, "NOT_FOUND", "GET /v1/nowhere"),
            ("an unknown route with a lapsed key", "/v2", Some(lapsed), "NOT_FOUND", "GET /v2"),
            ("a provider that fails", "/v1/items", Some(starter), "INTERNAL_ERROR", "again"),
            ("a name service that fails", "/v1/profile/Notch", Some(starter), "INTERNAL_ERROR", "again"),
        ];
        for (what, path, key, code, part) in rows {
            for _ in 0..2 {
                let headers: Vec<_> = key.iter().map(|key| (KEY_HEADER, *key)).collect();
                let message = get_with(&cloud, path, &headers).await.error(code);
                assert!(message.contains(part), "{what}, cache {gateway_cache}: {message}");
            }
        }
        // The log has no key, even if a query contains a key or the key cannot be checked.
        get_with(&cloud, &format!("/v1/nowhere?key={starter}"), &[(KEY_HEADER, starter)]).await;
        cloud.dynamodb().set_fault(Fault::close());
        cloud.clock().advance(DECISION_CACHED_FOR);
        get_with(&cloud, PATH, &[(KEY_HEADER, starter)]).await.error("INTERNAL_ERROR");
        expect_no_secrets(&cloud, &[starter, lapsed, revoked, unknown]);
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn too_many_requests_are_rate_limited_for_one_account_only() {
    for gateway_cache in ["off", "on"] {
        let limits =
            [("GatewayCache", gateway_cache), ("StarterRateLimit", "0.5"), ("StarterBurstLimit", "3")];
        let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
        cloud.clock().stop();
        let keys = cloud.keys().unwrap();
        for _ in 0..3 {
            assert!(get_with_key(&cloud, PATH, &keys.starter).await.data().is_object());
        }
        // Requests to all routes count, including invalid ones.
        for path in [PATH, "/v1/items", "/v1/auctions?page=x"] {
            let response = get_with_key(&cloud, path, &keys.starter).await;
            let message = response.error("RATE_LIMITED");
            assert!(message.contains("Retry-After"), "{message}");
            assert_eq!(response.headers["retry-after"], "1");
        }
        assert!(get_with_key(&cloud, PATH, &keys.pro).await.data().is_object());
        // The account's limit does not apply to routes that require no key.
        get_with_key(&cloud, "/v1/nowhere", &keys.starter).await.error("NOT_FOUND");
        cloud.clock().advance(Duration::from_secs(2));
        assert!(get_with_key(&cloud, PATH, &keys.starter).await.data().is_object());
        get_with_key(&cloud, PATH, &keys.starter).await.error("RATE_LIMITED");
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn a_route_that_requires_no_key_answers_whatever_the_key_is() {
    for gateway_cache in ["off", "on"] {
        let cloud = start(gateway_cache).await;
        let keys = cloud.keys().unwrap();
        let unknown = numbered_key(1);
        let cases = [
            ("none", vec![]),
            ("an empty one", vec![""]),
            ("a malformed one", vec!["secret"]),
            ("an unknown one", vec![unknown.expose()]),
            ("a revoked one", vec![keys.revoked.expose()]),
            ("a lapsed one", vec![keys.lapsed.expose()]),
            ("a good one", vec![keys.starter.expose()]),
            ("two", vec![keys.pro.expose(), "other"]),
        ];
        // The authorizer is not called: it would fail without its table.
        cloud.dynamodb().set_fault(Fault::missing_table().on("GetItem"));
        for example in examples().filter(|example| !example.route.requires_key) {
            for (what, keys) in &cases {
                let headers: Vec<_> = keys.iter().map(|key| (KEY_HEADER, *key)).collect();
                let response = get_with(&cloud, example.path, &headers).await;
                assert!(response.data().is_object(), "{}: {what}", example.path);
            }
        }
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn a_key_counts_only_in_its_header_and_only_once() {
    let cloud = start("off").await;
    let keys = cloud.keys().unwrap();
    let pro = keys.pro.expose();
    // Whitespace around a header's value is not part of it (RFC 9110).
    let padded = format!("  {pro} ");
    for (name, value) in [("x-api-key", pro), ("X-API-Key", pro), ("X-API-KEY", pro), (KEY_HEADER, &padded)] {
        assert!(get_with(&cloud, PATH, &[(name, value)]).await.data().is_object(), "{name}: {value:?}");
    }
    let bearer = format!("Bearer {pro}");
    for headers in [
        vec![("authorization", pro)],
        vec![("authorization", &bearer)],
        vec![("api-key", pro)],
        vec![("cookie", pro)],
        vec![(KEY_HEADER, &bearer)],
        vec![(KEY_HEADER, pro), (KEY_HEADER, pro)],
        vec![(KEY_HEADER, pro), (KEY_HEADER, "other")],
        vec![(KEY_HEADER, "other"), (KEY_HEADER, pro)],
        vec![(KEY_HEADER, ""), (KEY_HEADER, pro)],
        vec![(KEY_HEADER, "Zo\u{eb}")],
    ] {
        get_with(&cloud, PATH, &headers).await.error("UNAUTHORIZED");
    }
    for query in [format!("?X-API-Key={pro}"), format!("?x-api-key={pro}"), format!("?api_key={pro}")] {
        get_with(&cloud, &format!("{PATH}{query}"), &[]).await.error("UNAUTHORIZED");
    }
    // A decision on two headers is cached for neither of them.
    get_with(&cloud, PATH, &[(KEY_HEADER, "other")]).await.error("UNAUTHORIZED");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn every_route_requires_a_valid_key_also_for_a_cached_response() {
    let cloud = start("on").await;
    record_prices(&cloud, cloud.clock().now_ms()).await;
    let keys = cloud.keys().unwrap();
    for example in examples().filter(|example| example.route.requires_key) {
        get_with(&cloud, example.path, &[]).await.error("UNAUTHORIZED");
        for path in &example.upstream {
            assert_eq!(simulator(&cloud).requests(path), 0, "{}", example.path);
        }
        let first = get_with_key(&cloud, example.path, &keys.pro).await;
        assert!(first.data().is_object());
        for cache_control in [None, Some("max-age=0"), Some("no-cache"), Some("no-store")] {
            let extra: Vec<_> = cache_control.iter().map(|value| ("cache-control", *value)).collect();
            get_with(&cloud, example.path, &extra).await.error("UNAUTHORIZED");
            for (key, code) in [(&keys.revoked, "UNAUTHORIZED"), (&keys.lapsed, "FORBIDDEN")] {
                let mut headers = extra.clone();
                headers.push((KEY_HEADER, key.expose()));
                get_with(&cloud, example.path, &headers).await.error(code);
            }
            // No header of a client bypasses the cache.
            let mut headers = extra.clone();
            headers.push((KEY_HEADER, keys.starter.expose()));
            let again = get_with(&cloud, example.path, &headers).await;
            let is_shared = example.route.reads != Reads::Account;
            let is_expected = (again.text == first.text) == is_shared;
            assert!(is_expected || first.text.len() > 1_048_576, "{}", example.path);
        }
        for path in &example.upstream {
            assert_eq!(simulator(&cloud).requests(path), 1, "{}", example.path);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_renewed_account_gets_access_and_a_suspended_one_loses_it() {
    let cloud = start("on").await;
    let key = numbered_key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    for turn in 0..2 {
        put(&cloud, &account_row("bots", "pro", "active", 1_777_000_000)).await;
        cloud.clock().advance(DECISION_CACHED_FOR + ROWS_CACHED_FOR);
        get_with_key(&cloud, PATH, &key).await.error("FORBIDDEN");
        put(&cloud, &account_row("bots", "pro", "active", 4_000_000_000)).await;
        get_with_key(&cloud, PATH, &key).await.error("FORBIDDEN");
        cloud.clock().advance(DECISION_CACHED_FOR + ROWS_CACHED_FOR);
        assert!(get_with_key(&cloud, PATH, &key).await.data().is_object(), "turn {turn}");
    }
    put(&cloud, &account_row("bots", "pro", "suspended", 4_000_000_000)).await;
    cloud.clock().advance(DECISION_CACHED_FOR + ROWS_CACHED_FOR);
    get_with_key(&cloud, PATH, &key).await.error("FORBIDDEN");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn when_keys_cannot_be_checked_requests_fail_and_the_failure_is_not_cached() {
    for gateway_cache in ["off", "on"] {
        let cloud = start(gateway_cache).await;
        let keys = cloud.keys().unwrap();
        assert!(get_with_key(&cloud, PATH, &keys.starter).await.data().is_object());
        for fault in [Fault::throttled(), Fault::missing_table(), Fault::close()] {
            cloud.dynamodb().set_fault(fault);
            let response = get_with_key(&cloud, PATH, &keys.pro).await;
            let message = response.error("INTERNAL_ERROR");
            assert!(message.contains("could not be checked"), "{message}");
            // The gateway has cached the decision on the other key.
            assert!(get_with_key(&cloud, PATH, &keys.starter).await.data().is_object());
            cloud.dynamodb().clear_faults();
        }
        assert!(get_with_key(&cloud, PATH, &keys.pro).await.data().is_object());
        expect_clean_logs(&cloud);
    }
}
