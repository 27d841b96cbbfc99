//! Parameters that choose running auctions by their item.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::coins::Coins;
use crate::request::parameters::{Allowed, InvalidValue, Value, digits};
use crate::upstream::auctions::AuctionId;

/// `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag(bool);

impl Flag {
    #[must_use]
    pub const fn get(self) -> bool {
        self.0
    }
}

impl Value for Flag {
    const ALLOWED: Allowed = Allowed::Flag;
}

impl FromStr for Flag {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        text.parse().map(Self).map_err(|_| InvalidValue::of::<Self>())
    }
}

/// The name of a reforge, such as `withered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Reforge(Box<str>);

impl Reforge {
    const LONGEST: usize = 32;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Value for Reforge {
    const ALLOWED: Allowed = Allowed::Characters {
        longest: Self::LONGEST,
        set: "small letters (a-z) and underscores",
        class: "[a-z_]",
    };
}

impl FromStr for Reforge {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let is_legal = (1..=Self::LONGEST).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_legal.then(|| Self(text.into())).ok_or(InvalidValue::of::<Self>())
    }
}

/// One to three enchantments with their lowest levels. None if the parameter is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Enchantments(BTreeMap<Box<str>, u8>);

impl Enchantments {
    const MOST: usize = 3;
    const LONGEST: usize = 64;
    const HIGHEST: u8 = 100;

    /// Returns the names and the lowest levels.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8)> {
        self.0.iter().map(|(name, level)| (&**name, *level))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut levels = BTreeMap::new();
        for entry in text.split(',') {
            let (name, level) = entry.split_once(':').unwrap_or((entry, "1"));
            let level = digits(level).and_then(|level| u8::try_from(level).ok())?;
            let is_legal = (1..=Self::LONGEST).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
                && (1..=Self::HIGHEST).contains(&level);
            if !is_legal || levels.insert(name.into(), level).is_some() {
                return None;
            }
        }
        (levels.len() <= Self::MOST).then_some(Self(levels))
    }
}

impl Value for Enchantments {
    const ALLOWED: Allowed = Allowed::Pattern {
        pattern: "^[a-z0-9_]{1,64}(:(100|[1-9][0-9]?))?(,[a-z0-9_]{1,64}(:(100|[1-9][0-9]?))?){0,2}$",
        words: "1 to 3 different names of 1 to 64 small letters (a-z), digits and underscores, separated by commas, each alone or with a \
            level from 1 to 100 such as ultimate_wise:5",
    };
}

impl FromStr for Enchantments {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text).ok_or(InvalidValue::of::<Self>())
    }
}

/// A position in the auctions of an item: the price and the id of the last auction that the client has. Its
/// text is opaque to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AfterAuction((Coins, AuctionId));

impl AfterAuction {
    #[must_use]
    pub const fn of(position: (Coins, AuctionId)) -> Self {
        Self(position)
    }

    #[must_use]
    pub const fn position(self) -> (Coins, AuctionId) {
        self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let (price, auction) = text.split_once('-')?;
        let price = Some(price).filter(|price| (1..=15).contains(&price.len())).and_then(digits)?;
        Some(Self((Coins::of_hundredths(price), auction.parse().ok()?)))
    }
}

impl Serialize for AfterAuction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (price, auction) = self.0;
        serializer.collect_str(&format_args!("{}-{auction}", price.hundredths()))
    }
}

impl Value for AfterAuction {
    const ALLOWED: Allowed =
        Allowed::Pattern { pattern: "^[0-9]{1,15}-[0-9a-f]{32}$", words: "next_after of the previous page" };
}

impl FromStr for AfterAuction {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text).ok_or(InvalidValue::of::<Self>())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    #[test]
    fn enchantments_are_one_to_three_different_names_with_levels() {
        let parsed = |text: &str| {
            let enchantments = text.parse::<Enchantments>().ok()?;
            Some(
                enchantments
                    .iter()
                    .map(|(name, level)| format!("{name}:{level}"))
                    .collect::<Vec<_>>()
                    .join(","),
            )
        };
        assert_eq!(parsed("ultimate_wise:5,growth").as_deref(), Some("growth:1,ultimate_wise:5"));
        assert_eq!(parsed("a:100,b:1,c:99").as_deref(), Some("a:100,b:1,c:99"));
        let long = "a".repeat(64);
        assert_eq!(parsed(&long), Some(format!("{long}:1")));
        for text in [
            "",
            ",",
            "a,",
            "a,a:5",
            "a,b,c,d",
            "A",
            "a:0",
            "a:101",
            "a:",
            "a:x",
            "a:1:2",
            "a b",
            &format!("{long}a"),
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_position_is_read_as_it_was_written(price in 0_u64..200_000_000_000_000, auction: [u8; 16]) {
            let after = AfterAuction::of((Coins::of_hundredths(price), AuctionId::of_bytes(auction)));
            let text = serde_json::to_value(after).unwrap();
            prop_assert_eq!(text.as_str().unwrap().parse(), Ok(after));
        }

        #[test]
        fn every_text_that_matches_the_schema_is_accepted(
            after in string_regex("[0-9]{1,15}-[0-9a-f]{32}").unwrap(),
            reforge in string_regex("[a-z_]{1,32}").unwrap(),
            first in string_regex("[a-z]{1,64}(:(100|[1-9][0-9]?))?").unwrap(),
            second in string_regex("[0-9_]{1,64}(:(100|[1-9][0-9]?))?").unwrap(),
        ) {
            prop_assert!(after.parse::<AfterAuction>().is_ok());
            prop_assert!(reforge.parse::<Reforge>().is_ok());
            let enchantments = format!("{first},{second}");
            prop_assert!(enchantments.parse::<Enchantments>().is_ok());
        }
    }
}
