//! Unknown paths and methods are 404 with a message that names them. A response to `HEAD` has the headers of
//! the response to `GET`. Preflights and invalid requests reach no upstream.

use std::collections::BTreeSet;
use std::time::Duration;

use common::routes;
use hyper::Method;
use local::Fault;

use crate::support::{
    Response, expect_clean_logs, get, get_raw, one_instance_each, send, simulator, start, start_with,
};

/// A path of every route, and an unknown path.
fn paths() -> Vec<String> {
    let example = |path: &str| {
        [("{username}", "Notch"), ("{hash}", "0123"), ("{file}", "market.js")]
            .iter()
            .fold(path.to_owned(), |path, (parameter, value)| path.replace(parameter, value))
    };
    routes::all().map(|route| example(route.path)).chain(["/v1/nothing".to_owned()]).collect()
}

/// Panics unless `response` is 404 with a message that names method and path and says where the routes are
/// listed.
#[track_caller]
fn expect_unknown_route(response: &Response, method: &str, path: &str) {
    let message = response.error("NOT_FOUND");
    assert!(message.contains(&format!("{method} {path}")), "{method} {path}: {message}");
    assert!(message.contains("GET / "), "{message}");
}

#[tokio::test]
async fn an_unknown_path_is_not_found_and_named() {
    let cloud = start().await;
    // The target of the request, and the path in the response's message.
    let rows: [(&[u8], &str); 18] = [
        (b"/v1", "/v1"),
        (b"/v1/", "/v1/"),
        (b"/v2/mayor", "/v2/mayor"),
        (b"/v1/Mayor", "/v1/Mayor"),
        (b"/V1/mayor", "/V1/mayor"),
        (b"/v1/mayor/now", "/v1/mayor/now"),
        (b"/v1//mayor", "/v1//mayor"),
        (b"/v1/mayor.json", "/v1/mayor.json"),
        (b"/robots.txt", "/robots.txt"),
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
        let response = get_raw(&cloud, long.as_bytes()).await;
        expect_unknown_route(&response, "GET", &long[..64]);
        assert!(response.error("NOT_FOUND").len() < 250, "{}", response.text);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn another_method_on_a_known_path_is_not_found_and_named() {
    let cloud = start().await;
    for path in paths() {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "BREW"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let response = send(&cloud.url(), method.clone(), &path).await;
            expect_unknown_route(&response, method.as_str(), &path);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn head_has_the_status_and_the_headers_of_get_and_no_body() {
    let cloud = start_with(one_instance_each()).await;
    let paths = routes::all().filter(|route| route.answers_head).map(|route| route.path);
    let mut count = 0;
    for path in paths.chain(["/docs/", "/market/?item=COAL"]) {
        let get = send(&cloud.url(), Method::GET, path).await;
        let head = send(&cloud.url(), Method::HEAD, path).await;
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        for (name, value) in &get.headers {
            if !["content-length", "date", "x-amzn-requestid"].contains(&name.as_str()) {
                assert_eq!(head.headers.get(name), Some(value), "{path}: {name}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 7 + 2);
    cloud.dynamodb().set_fault(Fault::missing_table());
    cloud.clock().advance(Duration::from_mins(5));
    let failed = send(&cloud.url(), Method::HEAD, "/v1/status").await;
    assert_eq!((failed.status.as_u16(), failed.text.as_str()), (500, ""));
}

#[tokio::test]
async fn head_of_other_paths_is_not_found_and_has_no_body() {
    let cloud = start().await;
    let answers = |path: &str| routes::all().any(|route| route.path == path && route.answers_head);
    for path in paths().into_iter().filter(|path| !answers(path)) {
        let response = send(&cloud.url(), Method::HEAD, &path).await;
        assert_eq!(response.status, 404, "{path}");
        assert_eq!(response.text, "", "{path}");
        assert_eq!(response.headers["content-type"], "application/json", "{path}");
        assert_eq!(response.headers["access-control-allow-origin"], "*", "{path}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn options_is_a_preflight_that_allows_any_origin_to_get_with_a_key() {
    let cloud = start().await;
    for path in paths() {
        let response = send(&cloud.url(), Method::OPTIONS, &path).await;
        assert_eq!(response.status, 200, "{path}");
        let list = |name: &str| -> BTreeSet<String> {
            let value = response.headers[name].to_str().unwrap();
            value.split(',').map(|part| part.trim().to_owned()).collect()
        };
        assert_eq!(list("access-control-allow-origin"), ["*".to_owned()].into(), "{path}");
        assert_eq!(list("access-control-allow-methods"), ["GET".to_owned()].into(), "{path}");
        assert_eq!(list("access-control-allow-headers"), ["X-API-Key".to_owned()].into(), "{path}");
        assert_eq!(response.headers["access-control-max-age"], "86400", "{path}");
        assert_eq!(response.text, "{}", "{path}");
    }
    for route in ["/v2/skyblock/*", "/v2/resources/*", "/users/*"] {
        assert_eq!(simulator(&cloud).requests(route), 0, "a preflight must not reach the upstream");
    }
}

#[tokio::test]
async fn an_invalid_request_reaches_no_upstream() {
    let cloud = start().await;
    for (path, code) in [
        ("/v1/bazaar?mode=x", "BAD_REQUEST"),
        ("/v1/bazaar?mode=item", "BAD_REQUEST"),
        ("/v1/bazaar?mode=flips&limit=0", "BAD_REQUEST"),
        ("/v1/bazaar?mode=items", "BAD_REQUEST"),
        ("/v1/bazaar?mode=items&ids=A,,B", "BAD_REQUEST"),
        ("/v1/bazaar?mode=book", "BAD_REQUEST"),
        ("/v1/auctions?page=-1", "BAD_REQUEST"),
        ("/v1/profile/with-dash", "BAD_REQUEST"),
        ("/v1/nothing", "NOT_FOUND"),
    ] {
        get(&cloud, path).await.error(code);
    }
    assert_eq!(simulator(&cloud).requests("/*"), 0);
    expect_clean_logs(&cloud);
}
