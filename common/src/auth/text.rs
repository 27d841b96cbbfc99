//! Parses texts of operators and programs, which can contain a key by mistake.

use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error};

use super::account::AccountName;
use super::key::{ApiKey, KEY_PREFIX};
use super::record::{KeyDigest, KeyId, Label};

/// Parses the text, unless it contains an API key. A key must be neither stored nor repeated.
///
/// # Errors
/// If the text contains an API key or is not a `T`. The error is a sentence that does not repeat the text.
pub fn parse_unless_key<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    if contains_key(text) {
        return Err("this is an API key; keys belong only in the requests of their owner".to_owned());
    }
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn contains_key(text: &str) -> bool {
    let starts_with_key = |text: &str| {
        let ends = text.char_indices().map(|(end, _)| end).chain([text.len()]);
        ends.filter_map(|end| text.get(..end)).any(|part| part.parse::<ApiKey>().is_ok())
    };
    text.match_indices(KEY_PREFIX).filter_map(|(at, _)| text.get(at..)).any(starts_with_key)
}

macro_rules! deserialize_unless_key {
    ($($type:ty),*) => {
        $(impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse_unless_key(&String::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        })*
    };
}

deserialize_unless_key!(AccountName, KeyDigest, KeyId, Label);
