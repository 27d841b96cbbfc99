//! Promises about successful responses.

use reqwest::StatusCode;

use super::requests::{
    AUCTIONS, BOOK, CANDLES, COLLECTIONS, FIRE_SALES, FLIPS, FULL, ITEM, ITEMS, LIST, MANY, MAYOR, NOTCH,
    OPENAPI, PAST_MAYORS, PAST_SALES, PRICES, STATUS, UNKNOWN_ITEM,
};
use crate::support::mutation::{
    Broken, at, broken, every_second, fetched_at_another_time, instead, replaced, response, twice, without,
};

/// Promises about successful responses.
pub(crate) fn responses() -> Vec<Broken> {
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
            response.edit_json(|body| body["data"]["items"][0]["extra"] = 1.into());
        }),
        at(AUCTIONS, "all described fields", &["response GET /v1/auctions?page=0"], |response| {
            response.edit_json(|body| {
                body["data"]["auctions"][0].as_object_mut().unwrap().remove("bin");
            });
        }),
        at(LIST, "types", &["response GET /v1/bazaar?mode=list"], |response| {
            response.edit_json(|body| body["data"]["count"] = "5".into());
        }),
        at(
            MANY,
            "unknown ids",
            &["response GET /v1/bazaar?mode=items&ids=INK_SACK:3,DARK_FANG,NO_SUCH_ITEM"],
            |response| {
                response.edit_json(|body| {
                    body["data"].as_object_mut().unwrap().remove("unknown");
                });
            },
        ),
        at(BOOK, "prices of orders", &["response GET /v1/bazaar?mode=book&id=INK_SACK:3"], |response| {
            response.edit_json(|body| body["data"]["topBuyOrder"] = "5".into());
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
            CANDLES,
            "the requested interval",
            &[
                "response GET /v1/bazaar/candles?item_id=INK_SACK:3&interval=5m&before=2026-11-22T12:10:00Z&limit=1",
            ],
            replaced(r#""interval":"5m""#, r#""interval":"1h""#),
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
                response.edit_text(|text| text.replacen(r#""name":""#, r#""name":"x"#, 1));
            }),
        ),
        at(
            OPENAPI,
            "the version of the document",
            &["OpenAPI document is that of this version"],
            |response| response.edit_json(|body| body["info"]["version"] = "9.9.9".into()),
        ),
        at(STATUS, "the fields of entries", &["response GET /v1/status"], |response| {
            response.edit_json(|body| {
                body["data"]["feeds"][0].as_object_mut().unwrap().remove("last_gap");
            });
        }),
        at(PAST_SALES, "no shared caches", &["response GET /v1/fire-sales/history?limit=1"], |response| {
            response.set("cache-control", "public");
        }),
    ]
}

/// More promises about successful responses, for requests that [`responses`] uses already.
pub(crate) fn other_responses() -> Vec<Broken> {
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
        instead(
            "404 for books of unknown items",
            &["error 404 GET /v1/bazaar?mode=book&id=NO_SUCH_ITEM"],
            |target| target == "/v1/bazaar?mode=book&id=NO_SUCH_ITEM",
            BOOK,
        ),
    ];
    promises.extend([
        instead(
            "no prices of unknown items",
            &["unknown item GET /v1/bazaar/history"],
            |target| target.starts_with("/v1/bazaar/history?item_id=CHECK_"),
            PRICES,
        ),
        instead(
            "no candles of unknown items",
            &["unknown item GET /v1/bazaar/candles"],
            |target| target.starts_with("/v1/bazaar/candles?item_id=CHECK_") && !target.contains('&'),
            CANDLES,
        ),
    ]);
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
pub(crate) fn uncached_responses() -> Vec<Broken> {
    let cached = [
        (AUCTIONS, "cache GET /v1/auctions?page=0"),
        (
            CANDLES,
            "cache GET /v1/bazaar/candles?item_id=INK_SACK:3&interval=5m&before=2026-11-22T12:10:00Z&limit=1",
        ),
        (FLIPS, "cache GET /v1/bazaar?mode=flips&limit=5"),
        (LIST, "cache GET /v1/bazaar?mode=list"),
        (MANY, "cache GET /v1/bazaar?mode=items&ids=INK_SACK:3,DARK_FANG,NO_SUCH_ITEM"),
        (BOOK, "cache GET /v1/bazaar?mode=book&id=INK_SACK:3"),
        (COLLECTIONS, "cache GET /v1/collections"),
        (PAST_SALES, "cache GET /v1/fire-sales/history?limit=1"),
        (ITEMS, "cache GET /v1/items"),
        (PAST_MAYORS, "cache GET /v1/mayor/history?limit=1"),
        (STATUS, "cache GET /v1/status"),
    ];
    let broken =
        cached.map(|(target, fails)| at(target, "responses are cached", &[fails], fetched_at_another_time()));
    broken.into()
}

/// Promises about headers that a response must not have twice.
pub(crate) fn single_headers() -> Vec<Broken> {
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

pub(crate) fn another_site() -> Vec<Broken> {
    vec![at(OPENAPI, "an OpenAPI document", &["OpenAPI document is served"], |response| {
        response.replace(200, "text/html", "<html>");
    })]
}

/// More waiting than the program has time for.
pub(crate) fn exhausted_quota() -> Vec<Broken> {
    let fails = ["response GET /v1/items", "error 404 unknown item"];
    vec![response("responses", &fails, |request, response| {
        if request.path().starts_with("/v1/") && matches!(response.status.as_u16(), 200 | 404) {
            response.replace(429, "application/json", "{}");
            response.set("retry-after", "3600");
        }
    })]
}

/// No promise is broken: a response above the limit of the stage cache, but compressed below it.
pub(crate) fn large() -> Broken {
    response("large responses", &[], |request, response| {
        if request.target.contains("mode=full&id=") {
            response.edit_json(|body| body["data"]["padding"] = "x".repeat(1_100_000).into());
        }
    })
}

pub(crate) fn outage() -> Vec<Broken> {
    vec![broken("responses", &["response GET /v1/items", "preflight OPTIONS /v1/mayor"])]
}
