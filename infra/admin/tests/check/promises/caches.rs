//! Promises about the stage cache, which a cache behind the proxy breaks.

use super::requests::CACHED_RESPONSE;
use crate::support::mutation::{Broken, broken};

pub(crate) fn cache_without_authorization() -> Vec<Broken> {
    let fails = [CACHED_RESPONSE, "error 401 unknown key", "error 403 lapsed key"];
    vec![broken("cached responses require a key", &fails)]
}

pub(crate) fn cache_with_joined_parameters() -> Vec<Broken> {
    vec![broken("separate parameters", &["parameters are kept apart"])]
}

pub(crate) fn cache_by_first_value() -> Vec<Broken> {
    let fails = [
        "repeated parameter does not affect the first value",
        "repeated parameter has a cache key of its own",
    ];
    vec![broken("all values belong to the cache key", &fails)]
}

pub(crate) fn cache_without_order() -> Vec<Broken> {
    let fails = ["repeated parameter has a cache key of its own"];
    vec![broken("the order of values belongs to the cache key", &fails)]
}

pub(crate) fn mixed_up_items() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect the last value"];
    vec![broken("the last value has a response of its own", &fails)]
}
