//! Promises about errors, parameters, preflight requests and limits.

use reqwest::header::CONTENT_ENCODING;
use reqwest::{Method, StatusCode};

use super::requests::{
    AUCTIONS, BOOK, CANDLES, FLIPS, ITEMS, MANY, MAYOR, NOTCH, OPENAPI, PRICES, UNKNOWN_ITEM, WITHOUT_KEY,
};
use crate::support::mutation::{
    Broken, at, broken, error, instead, replaced, request, response, useless_message, without,
};

/// Promises about the errors of the service.
pub(crate) fn errors() -> Vec<Broken> {
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
    ]
}

/// Promises about parameters and paths.
pub(crate) fn parameters() -> Vec<Broken> {
    vec![
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
            "ids of many items",
            &[
                "error 400 GET /v1/bazaar?mode=items",
                "error 400 GET /v1/bazaar?mode=items&ids=COAL,,COBBLESTONE",
            ],
            |target| {
                target == "/v1/bazaar?mode=items" || target == "/v1/bazaar?mode=items&ids=COAL,,COBBLESTONE"
            },
            MANY,
        ),
        instead(
            "the id of a book",
            &["error 400 GET /v1/bazaar?mode=book"],
            |target| target == "/v1/bazaar?mode=book",
            BOOK,
        ),
        instead(
            "404 for unknown players",
            &["error 404 GET /v1/profile/{username}", "error 400 GET /v1/profile/not.a.name"],
            |target| target.contains("nobody_") || target.contains("not.a.name"),
            NOTCH,
        ),
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
        request(
            "equal values of a parameter",
            &["parameter that is repeated with the same value is accepted"],
            |request, _| {
                let (_, query) = request.target.split_once('?').unwrap_or_default();
                let ids: Vec<_> = query.split('&').filter(|pair| pair.starts_with("id=CHECK_")).collect();
                if let [one, other] = ids.as_slice()
                    && one == other
                {
                    request.target.push('0');
                }
            },
        ),
        request(
            "path parameters are decoded",
            &["escaped player has the response of the plain name"],
            |request, _| {
                if request.target.starts_with("/v1/profile/%") {
                    request.target = request.target.replace('%', "%25");
                }
            },
        ),
        request(
            "query parameters are decoded",
            &["escaped parameter has the response of the plain value"],
            |request, _| {
                if request.target.starts_with("/v1/bazaar?mode=item&id=%") {
                    "/v1/bazaar?mode=item&id=DARK_FANG".clone_into(&mut request.target);
                }
            },
        ),
        request("limits of lists", &["response GET /v1/bazaar?mode=flips&limit=5"], |request, _| {
            if request.target == FLIPS {
                request.target = FLIPS.replace("limit=5", "limit=9");
            }
        }),
    ]
}

/// Promises about the parameters of history and candles.
pub(crate) fn parameters_of_prices() -> Vec<Broken> {
    vec![
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
            "required parameters and their values",
            &[
                "error 400 GET /v1/bazaar/candles",
                "error 400 GET /v1/bazaar/candles?item_id=INK_SACK:3&before=now",
                "error 400 GET /v1/bazaar/candles?item_id=INK_SACK:3&interval=2h",
                "error 400 GET /v1/bazaar/candles?item_id=INK_SACK:3&limit=0",
                "error 400 GET /v1/bazaar/candles?item_id=ink_sack",
            ],
            |target| {
                target.strip_prefix("/v1/bazaar/candles").is_some_and(|query| {
                    query.is_empty()
                        || !query.contains("CHECK_")
                            && ["now", "2h", "=0", "ink_sack"].iter().any(|value| query.ends_with(value))
                })
            },
            CANDLES,
        ),
    ]
}

/// Promises about preflight requests, compression, replays and the OpenAPI document.
pub(crate) fn browsers_and_caches() -> Vec<Broken> {
    vec![
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
        response(
            "preflight headers",
            &[
                "preflight OPTIONS /",
                "preflight OPTIONS /openapi.json",
                "preflight OPTIONS /v1/auctions",
                "preflight OPTIONS /v1/bazaar",
                "preflight OPTIONS /v1/bazaar/candles",
                "preflight OPTIONS /v1/bazaar/history",
                "preflight OPTIONS /v1/collections",
                "preflight OPTIONS /v1/fire-sales",
                "preflight OPTIONS /v1/fire-sales/history",
                "preflight OPTIONS /v1/items",
                "preflight OPTIONS /v1/profile/{username}",
                "preflight OPTIONS /v1/status",
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
        at(
            OPENAPI,
            "the document of this version",
            &["OpenAPI document is that of this version"],
            |response| response.edit_text(|text| text.replacen("fields", "Fields", 1)),
        ),
    ]
}

const REPEATED: [&str; 2] =
    ["repeated parameter ?id=A&id=B is rejected", "repeated parameter ?id=B&id=A is rejected"];

/// Promises about errors of API Gateway, and about limits.
pub(crate) fn gateway_errors() -> Vec<Broken> {
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
        request("repeated parameters are rejected", &REPEATED, |request, _| {
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

/// No promise is broken: API Gateway answers these requests by itself, and looks at the first encoding only.
pub(crate) fn front_end() -> Vec<Broken> {
    vec![
        response("raw characters", &[], |request, response| {
            if request.target.contains(['|', '{', '}']) {
                response.replace(400, "text/html", "Bad Request");
            }
        }),
        response("reserved paths", &[], |request, response| {
            if matches!(request.target.as_str(), "/ping" | "/sping") {
                response.replace(200, "text/plain", "healthy");
            }
        }),
        request("encodings", &[], |request, _| {
            let accepted = request.headers.get("accept-encoding").map(|value| value.to_str().unwrap());
            if accepted.is_some_and(|accepted| accepted.starts_with("br")) {
                request.headers.remove("accept-encoding");
            }
        }),
    ]
}

/// The promise about a 429.
pub(crate) fn retry_after() -> Broken {
    error(429, "/", "Retry-After", &["error 429"], without("retry-after"))
}
