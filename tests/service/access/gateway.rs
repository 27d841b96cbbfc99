//! What callers get to see of it: every error of the contract (`interface.md`, part 7) through the gateway, with and
//! without the stage cache, and nothing that was paid for without a key.

use std::time::Duration;

use common::auth::ApiKey;
use hyper::Method;
use local::{Cloud, Fault};
use serde_json::json;
use simulator::Fault as UpstreamFault;

use super::expect_no_secrets;
use super::rows::{account_row, key, key_row, put, with};
use crate::support::{
    Answered, KEY_HEADER, examples, expect_clean_logs, get, one_instance_each, send_with, simulator,
    start_with, with_parameters,
};

const PATH: &str = "/v1/mayor";

/// How long the gateway remembers what the authorizer said.
const REMEMBERED_FOR: Duration = Duration::from_mins(1);
/// How long the authorizer itself remembers what it has read.
const BELIEVED_FOR: Duration = Duration::from_secs(5);

/// The service with the stage cache or without it.
async fn start(gateway_cache: &str) -> Cloud {
    start_with(with_parameters(one_instance_each(), &[("GatewayCache", gateway_cache)])).await
}

/// The answer to `GET path` with these headers and no other key.
async fn ask(cloud: &Cloud, path: &str, headers: &[(&str, &str)]) -> Answered {
    send_with(&cloud.url(), Method::GET, path, headers).await
}

async fn ask_with(cloud: &Cloud, path: &str, key: &ApiKey) -> Answered {
    ask(cloud, path, &[(KEY_HEADER, key.expose())]).await
}

/// Each row of the table, twice in a row: what a cache makes of it is the same.
#[tokio::test]
async fn every_error_of_the_contract_comes_in_its_envelope() {
    for gateway_cache in ["off", "on"] {
        let cloud = start(gateway_cache).await;
        let (starter, lapsed, revoked) = {
            let keys = cloud.keys().unwrap();
            (keys.starter.expose(), keys.lapsed.expose(), keys.revoked.expose())
        };
        let unknown = key(1);
        let unknown = unknown.expose();
        for path in ["/users/*", "/v2/resources/skyblock/items"] {
            simulator(&cloud).set_fault(path, UpstreamFault::status(503));
        }
        let rows = [
            ("no key", PATH, None, "UNAUTHORIZED", "X-API-Key"),
            ("an empty key", PATH, Some(""), "UNAUTHORIZED", "https://dashboard.example"),
            ("no key of ours", PATH, Some("secret"), "UNAUTHORIZED", "https://dashboard.example"),
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
                let key: Vec<_> = key.iter().map(|key| (KEY_HEADER, *key)).collect();
                let message = ask(&cloud, path, &key).await.error(code);
                assert!(message.contains(part), "{what}, cache {gateway_cache}: {message}");
            }
        }
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn more_requests_than_the_tier_allows_are_rate_limited_for_this_key_only() {
    for gateway_cache in ["off", "on"] {
        let limits =
            [("GatewayCache", gateway_cache), ("StarterRateLimit", "0.5"), ("StarterBurstLimit", "3")];
        let cloud = start_with(with_parameters(one_instance_each(), &limits)).await;
        let keys = cloud.keys().unwrap();
        for _ in 0..3 {
            assert!(ask_with(&cloud, PATH, &keys.starter).await.data().is_object());
        }
        // Whatever it asks for, and however good the question: the key is counted.
        for path in [PATH, "/v1/items", "/v1/auctions?page=x"] {
            let answered = ask_with(&cloud, path, &keys.starter).await;
            let message = answered.error("RATE_LIMITED");
            assert!(message.contains("Retry-After"), "{message}");
            assert_eq!(answered.headers["retry-after"], "1");
        }
        assert!(ask_with(&cloud, PATH, &keys.pro).await.data().is_object());
        // Routes without a key have no limit.
        ask_with(&cloud, "/v1/nowhere", &keys.starter).await.error("NOT_FOUND");
        cloud.clock().advance(Duration::from_secs(2));
        assert!(ask_with(&cloud, PATH, &keys.starter).await.data().is_object());
        ask_with(&cloud, PATH, &keys.starter).await.error("RATE_LIMITED");
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn every_route_wants_a_key_and_takes_a_paying_one() {
    let cloud = start("off").await;
    let keys = cloud.keys().unwrap();
    for example in examples() {
        ask(&cloud, example.path, &[]).await.error("UNAUTHORIZED");
        ask_with(&cloud, example.path, &keys.revoked).await.error("UNAUTHORIZED");
        ask_with(&cloud, example.path, &keys.lapsed).await.error("FORBIDDEN");
        for path in example.upstream {
            assert_eq!(simulator(&cloud).requests(path), 0, "{}", example.path);
        }
        for key in [&keys.starter, &keys.pro] {
            assert!(ask_with(&cloud, example.path, key).await.data().is_object(), "{}", example.path);
        }
    }
    assert_eq!(ask(&cloud, "/", &[]).await.data()["api_version"], "v1");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_key_counts_in_its_header_only_and_only_alone() {
    let cloud = start("off").await;
    let keys = cloud.keys().unwrap();
    let pro = keys.pro.expose();
    for name in ["x-api-key", "X-API-Key", "X-API-KEY"] {
        assert!(ask(&cloud, PATH, &[(name, pro)]).await.data().is_object(), "{name}");
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
    ] {
        ask(&cloud, PATH, &headers).await.error("UNAUTHORIZED");
    }
    for query in [format!("?X-API-Key={pro}"), format!("?x-api-key={pro}"), format!("?api_key={pro}")] {
        ask(&cloud, &format!("{PATH}{query}"), &[]).await.error("UNAUTHORIZED");
    }
    // What two headers together were answered is remembered for neither of them.
    ask(&cloud, PATH, &[(KEY_HEADER, "other")]).await.error("UNAUTHORIZED");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn keys_that_are_none_are_refused_whatever_they_are() {
    let cloud = start("off").await;
    let pro = cloud.keys().unwrap().pro.expose().to_owned();
    let before = cloud.dynamodb().requests("GetItem");
    let long = "x".repeat(10_240);
    for text in [
        &pro[1..],
        &pro[..pro.len() - 1],
        &pro.to_uppercase(),
        &pro.to_lowercase(),
        &format!("{pro}0"),
        &format!("{pro} {pro}"),
        &format!("{pro},{pro}"),
        &format!("{pro}\t1"),
        &pro.replacen(|character: char| character.is_ascii_digit(), "Q", 1),
        "gd_",
        "null",
        "*",
        "${jndi:ldap://x}",
        "\"",
        "Zoë",
        "\u{1f511}",
        &long,
    ] {
        ask(&cloud, PATH, &[(KEY_HEADER, text)]).await.error("UNAUTHORIZED");
    }
    assert_eq!(cloud.dynamodb().requests("GetItem"), before);
    // Blanks around a header's value are not part of it (RFC 9110).
    let padded = format!("  {pro} ");
    assert!(ask(&cloud, PATH, &[(KEY_HEADER, &padded)]).await.data().is_object());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn what_was_stored_for_a_paying_caller_is_for_paying_callers() {
    let cloud = start("on").await;
    let keys = cloud.keys().unwrap();
    for example in examples() {
        let first = ask_with(&cloud, example.path, &keys.pro).await;
        assert!(first.data().is_object());
        for cache_control in [None, Some("max-age=0"), Some("no-cache"), Some("no-store")] {
            let extra: Vec<_> = cache_control.iter().map(|value| ("cache-control", *value)).collect();
            ask(&cloud, example.path, &extra).await.error("UNAUTHORIZED");
            for (key, code) in [(&keys.revoked, "UNAUTHORIZED"), (&keys.lapsed, "FORBIDDEN")] {
                let mut headers = extra.clone();
                headers.push((KEY_HEADER, key.expose()));
                ask(&cloud, example.path, &headers).await.error(code);
            }
            // A client's wish changes nothing about what is stored.
            let mut headers = extra.clone();
            headers.push((KEY_HEADER, keys.starter.expose()));
            let again = ask(&cloud, example.path, &headers).await;
            assert!(again.text == first.text || first.text.len() > 1_048_576, "{}", example.path);
        }
        for path in example.upstream {
            assert_eq!(simulator(&cloud).requests(path), 1, "{}", example.path);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_revoked_key_stops_when_the_gateway_asks_again() {
    let cloud = start("on").await;
    let key = key(1);
    let row = key_row(&key, "bots");
    put(&cloud, &account_row("bots", "starter", "active", 4_000_000_000)).await;
    ask_with(&cloud, PATH, &key).await.error("UNAUTHORIZED");
    put(&cloud, &row).await;
    cloud.clock().advance(BELIEVED_FOR);
    assert!(ask_with(&cloud, PATH, &key).await.data().is_object());
    put(&cloud, &with(&row, "revoked_at", json!({"N": "1777000000"}))).await;
    cloud.clock().advance(BELIEVED_FOR);
    assert!(ask_with(&cloud, PATH, &key).await.data().is_object(), "still remembered");
    assert!(ask_with(&cloud, "/v1/items", &key).await.data().is_object(), "for every route");
    cloud.clock().advance(REMEMBERED_FOR);
    for path in [PATH, "/v1/items"] {
        ask_with(&cloud, path, &key).await.error("UNAUTHORIZED");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_lapsed_account_that_renews_gets_in_and_one_that_lapses_does_not() {
    let cloud = start("on").await;
    let key = key(1);
    put(&cloud, &key_row(&key, "bots")).await;
    for turn in 0..2 {
        put(&cloud, &account_row("bots", "pro", "active", 1_777_000_000)).await;
        cloud.clock().advance(REMEMBERED_FOR + BELIEVED_FOR);
        ask_with(&cloud, PATH, &key).await.error("FORBIDDEN");
        put(&cloud, &account_row("bots", "pro", "active", 4_000_000_000)).await;
        ask_with(&cloud, PATH, &key).await.error("FORBIDDEN");
        cloud.clock().advance(REMEMBERED_FOR + BELIEVED_FOR);
        assert!(ask_with(&cloud, PATH, &key).await.data().is_object(), "turn {turn}");
    }
    put(&cloud, &account_row("bots", "pro", "suspended", 4_000_000_000)).await;
    cloud.clock().advance(REMEMBERED_FOR + BELIEVED_FOR);
    ask_with(&cloud, PATH, &key).await.error("FORBIDDEN");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn when_keys_cannot_be_checked_nobody_gets_in_and_nothing_is_remembered() {
    for gateway_cache in ["off", "on"] {
        let cloud = start(gateway_cache).await;
        let keys = cloud.keys().unwrap();
        assert!(ask_with(&cloud, PATH, &keys.starter).await.data().is_object());
        for fault in [Fault::throttled(), Fault::missing_table(), Fault::close()] {
            cloud.dynamodb().set_fault(fault);
            let answered = ask_with(&cloud, PATH, &keys.pro).await;
            let message = answered.error("INTERNAL_ERROR");
            assert!(message.contains("could not be checked"), "{message}");
            // The gateway remembers the other key.
            assert!(ask_with(&cloud, PATH, &keys.starter).await.data().is_object());
            cloud.dynamodb().clear_faults();
        }
        assert!(ask_with(&cloud, PATH, &keys.pro).await.data().is_object());
        expect_clean_logs(&cloud);
    }
}

#[tokio::test]
async fn no_key_is_written_anywhere() {
    let cloud = start("on").await;
    let (pro, unknown) = (cloud.keys().unwrap().pro.clone(), key(1));
    for key in [&pro, &unknown] {
        ask_with(&cloud, PATH, key).await;
        ask(&cloud, &format!("/v1/nowhere?key={}", key.expose()), &[(KEY_HEADER, key.expose())]).await;
        cloud.dynamodb().set_fault(Fault::close());
        cloud.clock().advance(REMEMBERED_FOR);
        ask_with(&cloud, PATH, key).await.error("INTERNAL_ERROR");
        cloud.dynamodb().clear_faults();
    }
    expect_no_secrets(&cloud, &[pro.expose(), unknown.expose()]);
    assert!(get(&cloud, PATH).await.data().is_object());
}
