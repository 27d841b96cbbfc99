//! What does not exist, and every method but `GET`, is answered in the error envelope: its code, and a message that says
//! what was wrong. The service never repeats what an upstream said.

use std::collections::BTreeSet;

use common::routes::VERSION_1;
use hyper::Method;
use local::Cloud;
use simulator::Fault;

use crate::support::{Answered, expect_clean_logs, get, get_raw, live_examples, send, simulator, start};

/// Every path that a route has, and one that none has.
fn paths() -> Vec<String> {
    let routes = VERSION_1.map(|route| route.path.replace("{username}", "Notch"));
    routes.into_iter().chain(["/".to_owned(), "/v1/nothing".to_owned()]).collect()
}

/// That `answered` is 404 for a route that there is not, and the message names both and says where to look.
#[track_caller]
fn expect_unknown_route(answered: &Answered, method: &str, path: &str) {
    let message = answered.error("NOT_FOUND");
    assert!(message.contains(&format!("{method} {path}")), "{method} {path}: {message}");
    assert!(message.contains("GET / "), "{message}");
}

#[tokio::test]
async fn an_unknown_path_is_not_found_whatever_stands_in_it() {
    let cloud = start().await;
    // The target as it is sent, and the path in the message.
    let rows: [(&[u8], &str); 18] = [
        (b"/v1", "/v1"),
        (b"/v1/", "/v1/"),
        (b"/v2/mayor", "/v2/mayor"),
        (b"/v1/Mayor", "/v1/Mayor"),
        (b"/V1/mayor", "/V1/mayor"),
        (b"/v1/mayor/now", "/v1/mayor/now"),
        (b"/v1//mayor", "/v1//mayor"),
        (b"/v1/mayor.json", "/v1/mayor.json"),
        (b"/favicon.ico", "/favicon.ico"),
        (b"/v1/../etc/passwd", "/v1/../etc/passwd"),
        (b"/%2e%2e/%2e%2e", "/%2e%2e/%2e%2e"),
        (b"/\"quoted\"/'both'", "/\"quoted\"/'both'"),
        (b"/%3Cscript%3E", "/%3Cscript%3E"),
        (b"/back\\slash", "/back"),
        (b"/${jndi:ldap://x}", "/$"),
        (b"/%00%0d%0aSet-Cookie:%20a=b", "/%00%0d%0aSet-Cookie:%20a=b"),
        (b"/%ff%c3%28", "/%ff%c3%28"),
        (b"/Zo\xc3\xab", "/Zo\u{eb}"),
    ];
    for (target, path) in rows {
        expect_unknown_route(&get_raw(&cloud, target).await, "GET", path);
    }
    for long in ["/".to_owned() + &"x".repeat(10_240), "/x".repeat(5_120), "/%01".repeat(2_560)] {
        let answered = get_raw(&cloud, long.as_bytes()).await;
        expect_unknown_route(&answered, "GET", &long[..64]);
        assert!(answered.error("NOT_FOUND").len() < 250, "{}", answered.text);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn another_method_on_a_known_path_is_not_found_by_its_name() {
    let cloud = start().await;
    for path in paths() {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "BREW"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let answered = send(&cloud.url(), method.clone(), &path).await;
            expect_unknown_route(&answered, method.as_str(), &path);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn head_is_not_found_and_has_no_body() {
    let cloud = start().await;
    for path in paths() {
        let answered = send(&cloud.url(), Method::HEAD, &path).await;
        assert_eq!(answered.status, 404, "{path}");
        assert_eq!(answered.text, "", "{path}");
        assert_eq!(answered.headers["content-type"], "application/json", "{path}");
        assert_eq!(answered.headers["access-control-allow-origin"], "*", "{path}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn options_is_a_preflight_that_allows_any_origin_to_get_with_a_key() {
    let cloud = start().await;
    for path in paths() {
        let answered = send(&cloud.url(), Method::OPTIONS, &path).await;
        assert_eq!(answered.status, 200, "{path}");
        let list = |name: &str| -> BTreeSet<String> {
            let value = answered.headers[name].to_str().unwrap();
            value.split(',').map(|part| part.trim().to_owned()).collect()
        };
        assert_eq!(list("access-control-allow-origin"), ["*".to_owned()].into(), "{path}");
        assert_eq!(list("access-control-allow-methods"), ["GET".to_owned()].into(), "{path}");
        assert_eq!(list("access-control-allow-headers"), ["X-API-Key".to_owned()].into(), "{path}");
    }
    for route in ["/v2/skyblock/*", "/v2/resources/*", "/users/*"] {
        assert_eq!(simulator(&cloud).requests(route), 0, "a preflight asks nobody");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_named_with_a_hint_where_to_look() {
    let cloud = start().await;
    for (path, parts) in [
        ("/v1/bazaar?mode=item&id=GOLDEN_NONSENSE", ["'GOLDEN_NONSENSE'", "mode=list"]),
        ("/v1/auctions?page=4000", ["page 4000", "totalPages"]),
        ("/v1/auctions?page=4294967295", ["page 4294967295", "totalPages"]),
        ("/v1/profile/Nobody_Here", ["'Nobody_Here'", "spelling"]),
    ] {
        // Once fetched, once remembered.
        for _ in 0..2 {
            let message = get(&cloud, path).await.error("NOT_FOUND");
            for part in parts {
                assert!(message.contains(part), "{path}: {message}");
            }
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn the_first_page_beyond_the_last_is_not_found_and_the_last_is() {
    let cloud = start().await;
    // A page comes and goes with the number of auctions, so the end is looked for and not counted on.
    let total = get(&cloud, "/v1/auctions").await.data()["totalPages"].as_u64().unwrap();
    assert!(total > 30, "{total}");
    assert!(exists(&cloud, total - 2).await);
    assert!(!exists(&cloud, total + 1).await);
    expect_clean_logs(&cloud);
}

/// Whether there is this page of auctions.
async fn exists(cloud: &Cloud, page: u64) -> bool {
    let answered = get(cloud, &format!("/v1/auctions?page={page}")).await;
    if answered.status == 404 {
        answered.error("NOT_FOUND");
        return false;
    }
    assert_eq!(answered.data()["page"], page);
    true
}

#[tokio::test]
async fn a_failing_upstream_is_an_internal_error_that_says_nothing_of_it() {
    let cloud = start().await;
    for example in live_examples() {
        let its_words = r#"{"success":false,"cause":"disk on fire at 10.0.0.7"}"#;
        let failing = Fault::status(503).with_body(its_words).with_header("Retry-After", "9000");
        for path in example.upstream {
            simulator(&cloud).set_fault(path, failing.clone());
        }
        let answered = get(&cloud, example.path).await;
        let message = answered.error("INTERNAL_ERROR");
        for secret in ["fire", "10.0.0.7", "503", "upstream", "hypixel", "127.0.0.1", "/v2/"] {
            assert!(!message.contains(secret), "{}: {message}", example.path);
        }
        let wait: u64 = answered.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(wait >= 1, "{}", example.path);
        simulator(&cloud).clear_faults();
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_callers_mistake_is_answered_without_asking_any_upstream() {
    let cloud = start().await;
    for (path, code) in [
        ("/v1/bazaar?mode=x", "BAD_REQUEST"),
        ("/v1/bazaar?mode=item", "BAD_REQUEST"),
        ("/v1/bazaar?mode=flips&limit=0", "BAD_REQUEST"),
        ("/v1/auctions?page=-1", "BAD_REQUEST"),
        ("/v1/profile/with-dash", "BAD_REQUEST"),
        ("/v1/nothing", "NOT_FOUND"),
    ] {
        get(&cloud, path).await.error(code);
    }
    assert_eq!(simulator(&cloud).requests("/*"), 0);
    expect_clean_logs(&cloud);
}
