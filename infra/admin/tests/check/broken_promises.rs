//! A table of promises that the service makes. Each is broken once, and `check` must report it.
//!
//! The runs of one test share a cloud and run at the same time: most of a run is waiting.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::header::{CONTENT_ENCODING, HeaderValue};
use reqwest::{Method, StatusCode};

use crate::support::mutation::{
    Broken, accepted, at, broken, error, every_second, fetched_at_another_time, instead, replaced, request,
    response, twice, useless_message, without,
};
use crate::support::proxy::Behind;
use crate::support::run::{Run, carry_out_all, start_cloud};
use crate::support::stage_cache::{self, StageCache};

const MAYOR: &str = "/v1/mayor";
const PAST_MAYORS: &str = "/v1/mayor/history?limit=1";
const FIRE_SALES: &str = "/v1/fire-sales";
const PAST_SALES: &str = "/v1/fire-sales/history?limit=1";
const FULL: &str = "/v1/bazaar?mode=full";
const LIST: &str = "/v1/bazaar?mode=list";
const ITEM: &str = "/v1/bazaar?mode=item&id=INK_SACK:3";
const FLIPS: &str = "/v1/bazaar?mode=flips&limit=5";
const PRICES: &str = "/v1/bazaar/history?item_id=INK_SACK:3&range=1h";
const AUCTIONS: &str = "/v1/auctions?page=0";
const COLLECTIONS: &str = "/v1/collections";
const ITEMS: &str = "/v1/items";
const NOTCH: &str = "/v1/profile/Notch";
const OPENAPI: &str = "/openapi.json";

const CACHED_RESPONSE: &str = "cached response requires a key";
const COMPRESSION: [&str; 2] = ["compression GET /openapi.json", "compression GET /v1/items"];
const UNKNOWN_ITEM: [&str; 2] =
    ["error 404 unknown item", "error 404 GET /v1/bazaar?mode=item&id=NO_SUCH_ITEM"];
const WITHOUT_KEY: [&str; 11] = [
    "error 401 no key GET /v1/auctions",
    "error 401 no key GET /v1/bazaar",
    "error 401 no key GET /v1/bazaar/history",
    "error 401 no key GET /v1/collections",
    "error 401 no key GET /v1/fire-sales",
    "error 401 no key GET /v1/fire-sales/history",
    "error 401 no key GET /v1/items",
    "error 401 no key GET /v1/mayor",
    "error 401 no key GET /v1/mayor/history",
    "error 401 no key GET /v1/profile/{username}",
    CACHED_RESPONSE,
];

/// Promises about successful responses.
fn responses() -> Vec<Broken> {
    vec![
        at(ITEMS, "CORS header", &["response GET /v1/items"], without("access-control-allow-origin")),
        at(COLLECTIONS, "Content-Type", &["response GET /v1/collections"], |response| {
            response.set("content-type", "text/plain");
        }),
        at(
            FIRE_SALES,
            "success",
            &["response GET /v1/fire-sales"],
            replaced(r#""success":true"#, r#""ok":true"#),
        ),
        at(
            PAST_MAYORS,
            "version in meta",
            &["response GET /v1/mayor/history?limit=1"],
            replaced(r#""v1""#, r#""v2""#),
        ),
        at(FLIPS, "no undescribed fields", &["response GET /v1/bazaar?mode=flips&limit=5"], |response| {
            response.edit_json(|body| body["data"]["items"][0]["extra"] = 1.into())
        }),
        at(AUCTIONS, "all described fields", &["response GET /v1/auctions?page=0"], |response| {
            response.edit_json(|body| {
                body["data"]["auctions"][0].as_object_mut().unwrap().remove("bin");
            });
        }),
        at(LIST, "types", &["response GET /v1/bazaar?mode=list"], |response| {
            response.edit_json(|body| body["data"]["count"] = "5".into());
        }),
        at("/", "the index", &["response GET /"], |response| {
            response.edit_json(|body| {
                body["data"].as_object_mut().unwrap().remove("name");
            });
        }),
        at(
            PRICES,
            "the TTL of the route",
            &["response GET /v1/bazaar/history?item_id=INK_SACK:3&range=1h"],
            |response| {
                let fetched_at = response.headers["last-modified"].clone();
                response.headers.insert("expires", fetched_at);
            },
        ),
        at(
            NOTCH,
            "Last-Modified",
            &["response GET /v1/profile/Notch", "cache GET /v1/profile/Notch"],
            without("last-modified"),
        ),
        at(
            MAYOR,
            "a replay equals the original",
            &["cache GET /v1/mayor"],
            every_second(|response| {
                response.edit_text(|text| text.replacen(r#""name":""#, r#""name":"x"#, 1))
            }),
        ),
        at(
            OPENAPI,
            "the version of the document",
            &["OpenAPI document is that of this version"],
            |response| response.edit_json(|body| body["info"]["version"] = "9.9.9".into()),
        ),
        at(PAST_SALES, "no shared caches", &["response GET /v1/fire-sales/history?limit=1"], |response| {
            response.set("cache-control", "public")
        }),
    ]
}

/// More promises about successful responses, for requests that [`responses`] uses already.
fn other_responses() -> Vec<Broken> {
    let mut promises = vec![
        at(MAYOR, "Last-Modified is not in the future", &["response GET /v1/mayor"], |response| {
            response.set("last-modified", "Sat, 01 Jan 2180 00:00:00 GMT");
        }),
        at(PAST_MAYORS, "no redirects", &["response GET /v1/mayor/history?limit=1"], |response| {
            response.set("location", "/");
            response.status = StatusCode::FOUND;
        }),
        at(LIST, "complete bodies", &["response GET /v1/bazaar?mode=list"], |response| {
            response.body.truncate(response.body.len() - 20);
        }),
        instead(
            "the requested mode",
            &["response GET /v1/bazaar?mode=flips&limit=5"],
            |target| target == FLIPS,
            ITEM,
        ),
        instead(
            "the requested route",
            &["response GET /v1/collections", "different requests have different responses"],
            |target| target == COLLECTIONS,
            ITEMS,
        ),
        instead(
            "the requested player",
            &["response GET /v1/profile/Notch"],
            |target| target == NOTCH,
            "/v1/profile/Other",
        ),
        instead(
            "the requested page",
            &["response GET /v1/auctions?page=0"],
            |target| target == AUCTIONS,
            "/v1/auctions?page=1",
        ),
        instead(
            "404 for unknown items",
            &UNKNOWN_ITEM,
            |target| target.contains("mode=item&id=CHECK_") || target.contains("mode=item&id=NO_SUCH_"),
            ITEM,
        ),
    ];
    for (target, fails) in [
        (FIRE_SALES, ["response GET /v1/fire-sales", "cache GET /v1/fire-sales"]),
        (FULL, ["response GET /v1/bazaar?mode=full", "cache GET /v1/bazaar?mode=full"]),
        (
            ITEM,
            [
                "response GET /v1/bazaar?mode=item&id=INK_SACK:3",
                "cache GET /v1/bazaar?mode=item&id=INK_SACK:3",
            ],
        ),
        (
            PRICES,
            [
                "response GET /v1/bazaar/history?item_id=INK_SACK:3&range=1h",
                "cache GET /v1/bazaar/history?item_id=INK_SACK:3&range=1h",
            ],
        ),
    ] {
        promises.push(at(target, "responses are cached", &fails, fetched_at_another_time()));
    }
    promises
}

/// The rest of the cached routes.
fn uncached_responses() -> Vec<Broken> {
    let cached = [
        (AUCTIONS, "cache GET /v1/auctions?page=0"),
        (FLIPS, "cache GET /v1/bazaar?mode=flips&limit=5"),
        (LIST, "cache GET /v1/bazaar?mode=list"),
        (COLLECTIONS, "cache GET /v1/collections"),
        (PAST_SALES, "cache GET /v1/fire-sales/history?limit=1"),
        (ITEMS, "cache GET /v1/items"),
        (PAST_MAYORS, "cache GET /v1/mayor/history?limit=1"),
    ];
    let broken =
        cached.map(|(target, fails)| at(target, "responses are cached", &[fails], fetched_at_another_time()));
    broken.into()
}

/// Promises about headers that a response must not have twice.
fn single_headers() -> Vec<Broken> {
    vec![
        at(
            COLLECTIONS,
            "one CORS header",
            &["response GET /v1/collections"],
            twice("access-control-allow-origin", "*"),
        ),
        at(
            OPENAPI,
            "one CORS header of the document",
            &["response GET /openapi.json"],
            twice("access-control-allow-origin", "*"),
        ),
        at(ITEMS, "one Expires", &["response GET /v1/items"], twice("expires", "0")),
    ]
}

fn another_site() -> Vec<Broken> {
    vec![at(OPENAPI, "an OpenAPI document", &["OpenAPI document is served"], |response| {
        response.replace(200, "text/html", "<html>");
    })]
}

/// More waiting than the program has time for.
fn exhausted_quota() -> Vec<Broken> {
    let fails = ["response GET /v1/items", "error 404 unknown item"];
    vec![response("responses", &fails, |request, response| {
        if request.path().starts_with("/v1/") && matches!(response.status.as_u16(), 200 | 404) {
            response.replace(429, "application/json", "{}");
            response.set("retry-after", "3600");
        }
    })]
}

fn outage() -> Vec<Broken> {
    vec![broken("responses", &["response GET /v1/items", "preflight OPTIONS /v1/mayor"])]
}

/// Promises about errors, parameters, preflight requests and the document.
fn errors() -> Vec<Broken> {
    vec![
        error(
            400,
            "/v1/bazaar?mode",
            "CORS header of the functions' errors",
            &["error 400 GET /v1/bazaar?mode=item", "error 400 GET /v1/bazaar?mode=best"],
            without("access-control-allow-origin"),
        ),
        error(404, "/v1/bazaar?mode=item", "errors in JSON", &UNKNOWN_ITEM, |response| {
            response.replace(404, "text/plain", "Not Found");
        }),
        error(404, "/nothing", "the service's own 404", &["error 404 GET /nothing"], |response| {
            response.replace(403, "application/json", r#"{"message":"Missing Authentication Token"}"#);
        }),
        response(
            "404 for other methods",
            &[
                "error 404 POST /v1/mayor",
                "error 404 PUT /v1/mayor",
                "error 404 PATCH /v1/mayor",
                "error 404 DELETE /v1/mayor",
                "error 404 POST /",
            ],
            |request, response| {
                if ![Method::GET, Method::OPTIONS].contains(&request.method) {
                    response.status = StatusCode::METHOD_NOT_ALLOWED;
                }
            },
        ),
        error(
            400,
            "/v1/fire-sales",
            "errors name the parameter",
            &["error 400 GET /v1/fire-sales/history?limit=201"],
            useless_message,
        ),
        error(404, "/v1/nothing", "errors name the route", &["error 404 GET /v1/nothing"], useless_message),
        response("errors name the route", &["error 404 GET /v1/profile"], |request, response| {
            if request.target == "/v1/profile" {
                useless_message(response);
            }
        }),
        error(404, "/v1/bazaar/nothing", "error codes", &["error 404 GET /v1/bazaar/nothing"], |response| {
            response.edit_json(|body| body["error"]["code"] = "GONE".into());
        }),
        error(404, "/v2", "no Retry-After with 404", &["error 404 GET /v2/mayor"], |response| {
            response.set("retry-after", "1");
        }),
        instead(
            "404 for a page after the last",
            &["error 404 page after the last", "error 404 GET /v1/auctions?page=9999"],
            |target| target.split_once("page=").is_some_and(|(_, page)| page.len() > 1 && page != "-1"),
            AUCTIONS,
        ),
        instead(
            "bounds of parameters",
            &["error 400 GET /v1/mayor/history?limit=0"],
            |target| target == "/v1/mayor/history?limit=0",
            "/v1/mayor/history",
        ),
        instead(
            "bounds of parameters",
            &["error 400 GET /v1/auctions?page=-1"],
            |target| target == "/v1/auctions?page=-1",
            AUCTIONS,
        ),
        instead(
            "bounds of parameters",
            &["error 400 GET /v1/bazaar?mode=flips&limit=0"],
            |target| target == "/v1/bazaar?mode=flips&limit=0",
            "/v1/bazaar?mode=flips",
        ),
        instead(
            "required parameters and their values",
            &[
                "error 400 GET /v1/bazaar/history",
                "error 400 GET /v1/bazaar/history?item_id=INK_SACK:3&range=2h",
                "error 400 GET /v1/bazaar/history?item_id=ink_sack",
            ],
            |target| {
                target.strip_prefix("/v1/bazaar/history").is_some_and(|query| {
                    query.is_empty() || query.ends_with("2h") || query.ends_with("ink_sack")
                })
            },
            PRICES,
        ),
        instead(
            "404 for unknown players",
            &["error 404 GET /v1/profile/{username}", "error 400 GET /v1/profile/not.a.name"],
            |target| target.contains("nobody_") || target.contains("not.a.name"),
            NOTCH,
        ),
        at(
            MAYOR,
            "cached is true in a replay",
            &["cache GET /v1/mayor"],
            replaced(r#""cached":true"#, r#""cached":false"#),
        ),
        at(ITEMS, "compression keeps the content", &["compression GET /v1/items"], |response| {
            if response.headers.contains_key(CONTENT_ENCODING) {
                replaced("Wool", "Silk")(response);
            }
        }),
        instead(
            "trailing slashes",
            &["trailing slash is ignored"],
            |target| target == "/v1/mayor/",
            "/v1/nothing",
        ),
        instead(
            "unknown parameters",
            &["unknown parameter is ignored"],
            |target| target == "/v1/mayor?unknown=1",
            "/v1/nothing",
        ),
        response(
            "preflight headers",
            &[
                "preflight OPTIONS /",
                "preflight OPTIONS /openapi.json",
                "preflight OPTIONS /v1/auctions",
                "preflight OPTIONS /v1/bazaar",
                "preflight OPTIONS /v1/bazaar/history",
                "preflight OPTIONS /v1/collections",
                "preflight OPTIONS /v1/fire-sales",
                "preflight OPTIONS /v1/fire-sales/history",
                "preflight OPTIONS /v1/items",
                "preflight OPTIONS /v1/profile/{username}",
            ],
            |_, response| without("access-control-allow-headers")(response),
        ),
        request(
            "preflight without a key",
            &["preflight OPTIONS /v1/mayor", "preflight OPTIONS /v1/mayor/history"],
            |request, _| {
                if request.method == Method::OPTIONS && request.target.contains("mayor") {
                    request.method = Method::GET;
                }
            },
        ),
        request("limits of lists", &["response GET /v1/bazaar?mode=flips&limit=5"], |request, _| {
            if request.target == FLIPS {
                request.target = FLIPS.replace("limit=5", "limit=9");
            }
        }),
        at(
            OPENAPI,
            "the document of this version",
            &["OpenAPI document is that of this version"],
            |response| response.edit_text(|text| text.replacen("fields", "Fields", 1)),
        ),
    ]
}

/// Promises about keys.
fn keys() -> Vec<Broken> {
    vec![
        accepted("an empty key", &["error 401 empty key"], |request, _| request.key() == Some("")),
        accepted("a malformed key", &["error 401 malformed key"], |request, _| {
            request.key() == Some("gd_no-key")
        }),
        accepted(
            "keys that were not issued",
            &["error 401 unknown key", "error 401 mistyped key", CACHED_RESPONSE],
            |request, keys| {
                let is_issued = |key: &str| keys.named().iter().any(|(_, issued)| issued.expose() == key);
                request.key().is_some_and(|key| !key.is_empty() && !is_issued(key))
            },
        ),
        accepted("a key in Authorization", &["error 401 key in Authorization"], |request, _| {
            request.headers.contains_key("authorization")
        }),
        accepted("a key in the query", &["error 401 key in the query"], |request, _| {
            request.target.contains("X-API-Key=")
        }),
        accepted("two keys", &["error 401 two keys"], |request, _| {
            request.headers.get_all("x-api-key").iter().count() > 1
        }),
        accepted("a lapsed key", &["error 403 lapsed key"], |request, keys| {
            request.key() == Some(keys.lapsed.expose())
        }),
        accepted("a revoked key", &["error 401 revoked key"], |request, keys| {
            request.key() == Some(keys.revoked.expose())
        }),
        request("no keys in messages", &["error 404 GET /v1/nothing"], |request, keys| {
            request.target = request.target.replace("/v1/nothing", keys.pro.expose());
        }),
        request("compression", &COMPRESSION, |request, _| {
            request.headers.remove("accept-encoding");
        }),
    ]
}

fn no_key() -> Vec<Broken> {
    vec![
        accepted("no key", &WITHOUT_KEY, |request, _| request.key().is_none()),
        request("separate parameters", &["parameters are kept apart"], |request, _| {
            request.target = request.target.replace("%26", "&");
        }),
        request("no compression without Accept-Encoding", &COMPRESSION, |request, _| {
            request.headers.insert("accept-encoding", HeaderValue::from_static("gzip"));
        }),
    ]
}

/// Promises about errors of API Gateway, and about limits.
fn gateway_errors() -> Vec<Broken> {
    let mut not_stored = WITHOUT_KEY.to_vec();
    not_stored.push("error 401 unknown key");
    vec![
        error(
            403,
            "/",
            "CORS header of the gateway's errors",
            &["error 403 lapsed key"],
            without("access-control-allow-origin"),
        ),
        error(401, "/", "browsers do not store errors", &not_stored, without("cache-control")),
        request("the last value wins", &["repeated parameter: the last value wins"], |request, _| {
            let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
            let mut pairs = Vec::<&str>::new();
            for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                let name = pair.split('=').next();
                if !pairs.iter().any(|known| known.split('=').next() == name) {
                    pairs.push(pair);
                }
            }
            let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
            request.target = format!("{path}{query}");
        }),
        broken("limits", &["error 429"]),
    ]
}

/// The promise about a 429.
pub(crate) fn retry_after() -> Broken {
    error(429, "/", "Retry-After", &["error 429"], without("retry-after"))
}

fn cache_without_authorization() -> Vec<Broken> {
    let fails = [CACHED_RESPONSE, "error 401 unknown key", "error 403 lapsed key"];
    vec![broken("cached responses require a key", &fails)]
}

fn cache_with_joined_parameters() -> Vec<Broken> {
    vec![broken("separate parameters", &["parameters are kept apart"])]
}

fn cache_by_first_value() -> Vec<Broken> {
    let fails = [
        "repeated parameter does not affect the first value",
        "repeated parameter has a cache key of its own",
    ];
    vec![broken("all values belong to the cache key", &fails)]
}

fn cache_without_order() -> Vec<Broken> {
    let fails = ["repeated parameter has a cache key of its own"];
    vec![broken("the order of values belongs to the cache key", &fails)]
}

fn mixed_up_items() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect the last value"];
    vec![broken("the last value has a response of its own", &fails)]
}

/// The names of all checks that fail in a test of this file.
pub(crate) fn checks_that_fail() -> BTreeSet<String> {
    let promises = [
        responses(),
        other_responses(),
        uncached_responses(),
        single_headers(),
        another_site(),
        exhausted_quota(),
        errors(),
        keys(),
        no_key(),
        gateway_errors(),
        vec![retry_after()],
        cache_without_authorization(),
        cache_with_joined_parameters(),
        cache_by_first_value(),
        cache_without_order(),
        mixed_up_items(),
    ];
    promises.into_iter().flatten().flat_map(|broken| broken.fails).collect()
}

#[tokio::test]
async fn broken_responses_are_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("responses", responses()),
        Run::new("other responses", other_responses()),
        Run::new("uncached responses", uncached_responses()),
        Run::new("single headers", single_headers()),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn a_service_that_does_not_respond_is_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("another site", another_site()),
        Run::new("an exhausted quota", exhausted_quota()),
        Run::new("an outage", outage()).behind(Behind::Outage { after: 12 }),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn broken_errors_and_keys_are_reported() {
    let cloud = start_cloud("on").await;
    let runs = vec![
        Run::new("errors", errors()),
        Run::new("keys", keys()),
        Run::new("no key", no_key()).observations(&[("without_accept_encoding", "gzip")]),
        Run::new("errors of the gateway", gateway_errors())
            .options(&["--rate", "1000", "--throttle"])
            .observations(&[("repeated_parameter", "first_and_poisons"), ("throttling", "none")]),
    ];
    carry_out_all(&cloud, runs).await;
}

#[tokio::test]
async fn broken_caches_are_reported() {
    let cloud = start_cloud("on").await;
    let cache = |key, stores| Behind::StageCache(StageCache::new(key, stores));
    let unauthorized = StageCache::new(stage_cache::target, stage_cache::mayor).without_authorizer();
    let runs = vec![
        Run::new("a cache that requires no key", cache_without_authorization())
            .behind(Behind::StageCache(unauthorized))
            .observations(&[("authorizer_on_hit", "no")]),
        Run::new("a cache that joins parameters", cache_with_joined_parameters())
            .behind(cache(stage_cache::unescaped, stage_cache::bazaar_errors)),
        Run::new("a cache by first values", cache_by_first_value())
            .behind(cache(stage_cache::first_values, stage_cache::bazaar_errors))
            .observations(&[("repeated_parameter", "last_and_poisons"), ("errors_stored", "yes")]),
        Run::new("a cache without order", cache_without_order())
            .behind(cache(stage_cache::unordered, stage_cache::bazaar_errors)),
        Run::new("mixed-up items", mixed_up_items()).behind(Behind::MixedUpItems),
    ];
    carry_out_all(&cloud, runs).await;
}

/// No promise is broken: these caches differ in what AWS does not document.
#[tokio::test]
async fn caches_are_told_apart() {
    let (with_cache, without_cache) = tokio::join!(start_cloud("on"), start_cloud("off"));
    let short = |stores| StageCache::new(stage_cache::target, stores).ttl(Duration::from_secs(5));
    let traced = |stores| Behind::StageCache(short(stores).traced());
    let obeying = short(stage_cache::bazaar_successes).obeying_clients();
    let runs = vec![
        Run::new("a cache that stores errors", Vec::new()).behind(traced(stage_cache::bazaar)).observations(
            &[("stage_cache", "on"), ("errors_stored", "yes"), ("cache_control_of_clients", "ignored")],
        ),
        Run::new("a cache that stores no errors", Vec::new())
            .behind(traced(stage_cache::bazaar_successes))
            .observations(&[("stage_cache", "on"), ("errors_stored", "no")]),
    ];
    let obeying = Run::new("a cache that obeys clients", Vec::new())
        .behind(Behind::StageCache(obeying))
        .observations(&[
            ("stage_cache", "on"),
            ("cache_control_of_clients", "obeyed"),
            ("functions_expect_stage_cache", "off"),
        ])
        .may_fail();
    tokio::join!(carry_out_all(&with_cache, runs), carry_out_all(&without_cache, vec![obeying]));
}
