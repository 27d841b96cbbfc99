//! The parameter `ids`: the items that a route returns.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::str::FromStr;

use foldhash::fast::RandomState;

use super::parameters::{Allowed, InvalidValue, Value};

/// A market, which determines the allowed ids.
pub trait Market: std::fmt::Debug {
    /// Whether an id may have blanks.
    const HAS_BLANKS: bool;
}

#[derive(Debug)]
pub struct Bazaar;

impl Market for Bazaar {
    const HAS_BLANKS: bool = true;
}

#[derive(Debug)]
pub struct AuctionHouse;

impl Market for AuctionHouse {
    const HAS_BLANKS: bool = false;
}

/// 1 to 100 ids of a market, separated by commas. The ids stay one text, because allocating a hundred texts
/// would take longer than the rest of a request.
#[derive(Debug)]
pub struct Ids<M>(Box<str>, PhantomData<M>);

impl<M: Market> Ids<M> {
    /// Returns each id once, in the order in which they first appear.
    #[must_use]
    pub fn distinct(&self) -> Vec<&str> {
        let mut seen = HashSet::with_hasher(RandomState::default());
        self.0.split(',').filter(|id| seen.insert(*id)).collect()
    }
}

impl<M: Market> Value for Ids<M> {
    const ALLOWED: Allowed = Allowed::List { most: 100, longest: 64, entries: "ids", blanks: M::HAS_BLANKS };
}

impl<M: Market> FromStr for Ids<M> {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let flaw = Self::ALLOWED.flaw(text);
        if flaw.is_none() { Ok(Self(text.into(), PhantomData)) } else { Err(InvalidValue::of::<Self>()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    type BazaarIds = Ids<Bazaar>;
    type AuctionIds = Ids<AuctionHouse>;

    fn parsed(text: &str) -> Option<Vec<String>> {
        let ids: BazaarIds = text.parse().ok()?;
        Some(ids.distinct().into_iter().map(str::to_owned).collect())
    }

    fn pattern<T: Value>() -> String {
        T::ALLOWED.schema().get("pattern").unwrap().as_str().unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn ids_keep_the_order_of_their_first_appearance(ids in vec("[A-C]{1,2}", 1..=100)) {
            let mut expected = Vec::new();
            for id in &ids {
                if !expected.contains(id) {
                    expected.push(id.clone());
                }
            }
            prop_assert_eq!(parsed(&ids.join(",")), Some(expected));
        }

        #[test]
        fn every_text_that_matches_the_schema_is_accepted(
            text in string_regex(r"[^,]{1,64}(,[^,]{1,64}){0,99}").unwrap(),
        ) {
            prop_assert!(parsed(&text).is_some());
            prop_assert_eq!(text.parse::<AuctionIds>().is_ok(), !text.contains(' '));
        }
    }

    #[test]
    fn the_schemas_are_those_that_the_tests_know() {
        assert_eq!(pattern::<BazaarIds>(), r"^[^,]{1,64}(,[^,]{1,64}){0,99}$");
        assert_eq!(pattern::<AuctionIds>(), r"^[^, ]{1,64}(,[^, ]{1,64}){0,99}$");
    }

    #[test]
    fn too_many_empty_and_long_ids_are_refused_with_what_is_wrong() {
        let ids = |count: usize| (0..count).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(parsed(&ids(100)).map(|ids| ids.len()), Some(100));
        assert_eq!(parsed(&"\u{e9}".repeat(64)).map(|ids| ids.len()), Some(1));
        for (text, flaw) in [
            (ids(101), "it has 101 entries"),
            ("A,".repeat(100) + "A", "it has 101 entries"),
            (String::new(), "entry 1 is empty"),
            (",A".to_owned(), "entry 1 is empty"),
            ("A,,B".to_owned(), "entry 2 is empty"),
            ("A,B,".to_owned(), "entry 3 is empty"),
            (format!("A,{}", "B".repeat(65)), "entry 2 has 65 characters"),
        ] {
            assert_eq!(parsed(&text), None, "{text}");
            assert_eq!(BazaarIds::ALLOWED.flaw(&text).as_deref(), Some(flaw), "{text}");
        }
    }
}
