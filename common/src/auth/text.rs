//! Parses texts of operators and programs, which can contain a key by mistake.

use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error};

use super::account::AccountName;
use super::key::{KEY_PREFIX, RANDOM_CHARACTERS};
use super::record::{KeyDigest, KeyId, Label};
use super::subscription::SubscriptionId;

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

/// Whether the text has a key, or the random part of one: its checksum can be computed.
fn contains_key(text: &str) -> bool {
    let starts_with_key =
        |rest: &str| rest.bytes().take_while(u8::is_ascii_alphanumeric).count() >= RANDOM_CHARACTERS;
    text.match_indices(KEY_PREFIX)
        .filter_map(|(at, prefix)| text.get(at + prefix.len()..))
        .any(starts_with_key)
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

deserialize_unless_key!(AccountName, KeyDigest, KeyId, Label, SubscriptionId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_the_random_part_of_a_key_is_refused() {
        let key = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
        for text in [key, &key[..40], &key[..35], &format!("for {key}!"), &format!("gd_{key}")] {
            assert!(parse_unless_key::<Label>(text).is_err(), "{text}");
        }
        for text in [&key[..34], "gd_ci", "ends in gd_"] {
            assert!(parse_unless_key::<Label>(text).is_ok(), "{text}");
        }
    }
}
