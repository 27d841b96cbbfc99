//! The ids of items in auctions. A recorder stores prices by these ids, and clients request prices by them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::parameters::{Allowed, InvalidValue, Value};

/// The id of an item in auctions: the internal name that mods use, such as `SHEEP;4`, or one of its variants,
/// such as `SHEEP;4+100`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct AuctionItemId(Box<str>);

impl AuctionItemId {
    /// The longest of 3,988 real ids has 45 characters.
    const LONGEST: usize = 64;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for AuctionItemId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Value for AuctionItemId {
    const ALLOWED: Allowed = Allowed::Characters {
        longest: Self::LONGEST,
        set: "capital letters (A-Z), digits and the characters _ ; + -",
        class: "[A-Z0-9_;+-]",
    };
}

impl FromStr for AuctionItemId {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let is_legal_byte =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_;+-".contains(&byte);
        let is_legal = (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_legal_byte);
        is_legal.then(|| Self(text.into())).ok_or(InvalidValue::of::<Self>())
    }
}

impl TryFrom<String> for AuctionItemId {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_1_to_64_characters_of_the_set() {
        let [longest, too_long] = [64, 65].map(|length| "A".repeat(length));
        for text in ["X", "SHEEP;4+100", "LOG-2", "NEW_YEAR_CAKE+486", &longest] {
            assert_eq!(text.parse::<AuctionItemId>().unwrap().as_str(), text);
        }
        for text in ["", "sheep", "LOG:2", "SHEEP;4 100", "A,B", "A.B", "Ä", "A\n", &too_long] {
            assert!(text.parse::<AuctionItemId>().is_err(), "{text:?}");
        }
    }
}
