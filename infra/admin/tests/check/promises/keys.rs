//! Promises about API keys.

use reqwest::header::HeaderValue;

use super::requests::{CACHED_RESPONSE, COMPRESSION, STATUS, WITHOUT_KEY};
use crate::support::mutation::{Broken, accepted, request};

const SPELLINGS: [&str; 3] = [
    "key in the header X-API-Key over HTTP/1.1",
    "key in the header X-Api-Key over HTTP/1.1",
    "key in the header x-api-key over HTTP/1.1",
];

/// Promises about keys.
pub(crate) fn keys() -> Vec<Broken> {
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
        request("routes without a key", &["no key required GET /v1/status"], |request, _| {
            // Whatever the key is, another promise may have replaced it.
            if request.target == STATUS && request.key().is_some() {
                "/v1/unknown".clone_into(&mut request.target);
            }
        }),
        request("no keys in messages", &["error 404 GET /v1/nothing"], |request, keys| {
            request.target = request.target.replace("/v1/nothing", keys.pro.expose());
        }),
        request("every spelling of the header", &SPELLINGS, |request, _| {
            // Only these requests have a connection of their own.
            if request.spelling.is_some() && request.headers.contains_key("connection") {
                request.headers.remove("x-api-key");
            }
        }),
        request("compression", &COMPRESSION, |request, _| {
            request.headers.remove("accept-encoding");
        }),
    ]
}

/// An identity source that is case-sensitive.
pub(crate) fn one_spelling() -> Vec<Broken> {
    vec![request("spellings of the header", &SPELLINGS[..2], |request, _| {
        if request.spelling.as_ref().is_some_and(|spelling| spelling != "x-api-key") {
            request.headers.remove("x-api-key");
        }
    })]
}

pub(crate) fn no_key() -> Vec<Broken> {
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
