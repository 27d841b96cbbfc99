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

pub(crate) fn cache_of_rejections() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect ?id=A", "repeated parameter does not affect ?id=B"];
    vec![broken("rejections are not stored under the key of another request", &fails)]
}

pub(crate) fn mixed_up_items() -> Vec<Broken> {
    let fails = ["repeated parameter does not affect ?id=B"];
    vec![broken("the last value has a response of its own", &fails)]
}
