//! The products of a line: an object from item ids to values.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use common::excerpt::Excerpt;
use common::params::{InvalidValue, ItemId};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads the products that have a price. `value` makes a value of what stands in the line, or says what is wrong with it.
///
/// # Errors
/// The first product that cannot be used, and why.
pub(super) fn products<'de, D: Deserializer<'de>, L: Deserialize<'de>, V>(
    deserializer: D,
    value: fn(&L) -> Result<V, String>,
    has_price: fn(&V) -> bool,
) -> Result<BTreeMap<ItemId, V>, D::Error> {
    deserializer.deserialize_map(Products { value, has_price, line: PhantomData })
}

struct Products<L, V> {
    value: fn(&L) -> Result<V, String>,
    has_price: fn(&V) -> bool,
    line: PhantomData<L>,
}

impl<'de, L: Deserialize<'de>, V> Visitor<'de> for Products<L, V> {
    type Value = BTreeMap<ItemId, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of products")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut products: A) -> Result<Self::Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some(id) = products.next_key::<String>()? {
            let in_line: L = products.next_value()?;
            let refuse = |reason: String| A::Error::custom(format_args!("{}: {reason}", Excerpt::of(&id)));
            let value = (self.value)(&in_line).map_err(refuse)?;
            let item_id: ItemId = id
                .parse()
                .map_err(|InvalidValue { allowed }| refuse(format!("an item id must be {allowed}")))?;
            // The recorder skips products without a price, too.
            if (self.has_price)(&value) && values.insert(item_id, value).is_some() {
                return Err(refuse("it appears twice".to_owned()));
            }
        }
        Ok(values)
    }
}
