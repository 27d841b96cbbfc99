//! Promises about the stage cache, which a cache behind the proxy breaks.

use std::sync::OnceLock;

use super::requests::CACHED_RESPONSE;
use crate::support::message::Request;
use crate::support::mutation::{Broken, broken, request};

pub(crate) fn cache_without_authorization() -> Vec<Broken> {
    let fails = [CACHED_RESPONSE, "error 401 unknown key", "error 403 lapsed key"];
    vec![broken("cached responses require a key", &fails)]
}

pub(crate) fn cache_with_joined_parameters() -> Vec<Broken> {
    vec![broken("separate parameters", &["parameters are kept apart"])]
}

pub(crate) fn cache_of_rejections() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect ?id=A", "repeated parameter does not affect ?id=B"];
    vec![broken("rejections are not stored under the key of another request", &fails)]
}

pub(crate) fn mixed_up_items() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect ?id=B"];
    vec![broken("the last value has a response of its own", &fails)]
}

/// Each parameter of the candles belongs to the cache key: requests that differ in one of them get the stored response.
pub(crate) fn keys_of_candles() -> Vec<Broken> {
    let replaced = |check: &'static str, value: &'static str, stored: &'static str| {
        request("cache keys of candles", &[check], move |request, _| {
            if stored_item(request).is_some() {
                request.target = request.target.replace(value, stored);
            }
        })
    };
    let first = OnceLock::new();
    let item =
        request("cache keys of candles", &["cache key GET /v1/bazaar/candles item_id"], move |request, _| {
            if let Some(id) = stored_item(request) {
                let first: &String = first.get_or_init(|| id.clone());
                request.target = request.target.replace(&id, first);
            }
        });
    vec![
        item,
        replaced("cache key GET /v1/bazaar/candles interval", "interval=3h", "interval=1d"),
        replaced("cache key GET /v1/bazaar/candles before", "yesterday", "2026-11-21T00:00:00Z"),
        replaced("cache key GET /v1/bazaar/candles limit", "limit=0", "limit=2"),
    ]
}

/// The item, if the request is one of those about the cache key of candles.
fn stored_item(request: &Request) -> Option<String> {
    let (id, others) = request.target.strip_prefix("/v1/bazaar/candles?item_id=")?.split_once('&')?;
    (id.starts_with("CHECK_") && others.contains("before=")).then(|| id.to_owned())
}
