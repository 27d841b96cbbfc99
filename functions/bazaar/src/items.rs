//! `mode=items`: many products at once.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use common::request::parameters::{Allowed, InvalidValue, Value};
use common::routes::BAZAAR_IDS;
use common::upstream::bazaar::Product;
use foldhash::fast::RandomState;
use schemars::JsonSchema;
use serde::Serialize;

use crate::processed::ProcessedItem;

/// The data of `mode=items`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BazaarItems")]
pub(crate) struct Selection<'a> {
    /// The number of items.
    count: usize,
    /// The products, in the order of their ids in the request.
    items: Vec<ProcessedItem<'a>>,
    /// The ids in the request that no product has, in their order.
    unknown: Vec<&'a str>,
}

impl<'a> Selection<'a> {
    /// The items of the products with these ids.
    pub(crate) fn of(products: &'a [Product], ids: &'a ProductIds) -> Self {
        let ids = ids.distinct();
        // One pass over the products, however many ids there are.
        let mut found: HashMap<&str, Option<&Product>, RandomState> =
            ids.iter().map(|id| (*id, None)).collect();
        for product in products {
            if let Some(place) = found.get_mut(&*product.id) {
                *place = Some(product);
            }
        }
        let (mut items, mut unknown) = (Vec::with_capacity(ids.len()), Vec::new());
        for id in ids {
            match found.get(id).copied().flatten() {
                Some(product) => items.push(ProcessedItem::of(product)),
                None => unknown.push(id),
            }
        }
        Self { count: items.len(), items, unknown }
    }
}

/// The ids in a request, separated by commas: any other texts. It stays one text: a hundred texts would take longer than the rest
/// of a request.
#[derive(Debug)]
pub struct ProductIds(Box<str>);

impl ProductIds {
    /// Returns each id once, in the order in which they first appear.
    fn distinct(&self) -> Vec<&str> {
        let mut seen = HashSet::with_hasher(RandomState::default());
        self.0.split(',').filter(|id| seen.insert(*id)).collect()
    }
}

impl Value for ProductIds {
    const ALLOWED: Allowed = BAZAAR_IDS;
}

impl FromStr for ProductIds {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let flaw = Self::ALLOWED.flaw(text);
        if flaw.is_none() { Ok(Self(text.into())) } else { Err(InvalidValue::of::<Self>()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    fn parsed(text: &str) -> Option<Vec<String>> {
        let ids: ProductIds = text.parse().ok()?;
        Some(ids.distinct().into_iter().map(str::to_owned).collect())
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
        }
    }

    #[test]
    fn the_schema_is_the_one_that_the_tests_know() {
        let schema = BAZAAR_IDS.schema();
        assert_eq!(schema.get("pattern").unwrap(), r"^[^,]{1,64}(,[^,]{1,64}){0,99}$");
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
            assert_eq!(BAZAAR_IDS.flaw(&text).as_deref(), Some(flaw), "{text}");
        }
    }
}
