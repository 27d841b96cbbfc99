//! The bazaar: `/v2/skyblock/bazaar`, three megabytes every 20 seconds.
//!
//! Whoever needs the raw products takes [`Bazaar`], whoever needs prices takes [`Market`]: each reads the body once, and
//! neither pays for the other. Names are from the instant trader's side: `sell_price` is what a seller gets at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::json::{ObjectText, whole_number};
use crate::upstream::Success;

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/bazaar";

/// The provider's answer with its products untouched.
#[derive(Debug, Deserialize)]
pub struct Bazaar<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// When the provider made it, in Unix milliseconds.
    #[serde(rename = "lastUpdated", deserialize_with = "whole_number")]
    pub last_updated: i64,
    /// All products by id, in the provider's order.
    #[serde(borrow)]
    pub products: ObjectText<'a>,
}

/// The provider's answer with the prices of its products.
#[derive(Debug, Deserialize)]
pub struct Market {
    #[serde(rename = "success")]
    _success: Success,
    /// Not needed here; but what lacks it would be no answer to those who need it.
    #[serde(rename = "lastUpdated", deserialize_with = "whole_number")]
    _last_updated: i64,
    /// The products, in the provider's order.
    #[serde(deserialize_with = "products")]
    pub products: Vec<Product>,
}

/// The provider's answer when something in it makes no sense, read product by product: [`Market`] takes a third of the time,
/// and gives up at the first mistake.
#[derive(Debug, Deserialize)]
pub struct PatchyMarket<'a> {
    #[serde(rename = "success")]
    _success: Success,
    #[serde(borrow)]
    products: HashMap<Cow<'a, str>, &'a RawValue>,
}

impl PatchyMarket<'_> {
    /// The products whose prices make sense, and the ids of the others.
    #[must_use]
    pub fn sorted_out(self) -> (Vec<Product>, Vec<Box<str>>) {
        let (mut products, mut nonsense) = (Vec::new(), Vec::new());
        for (id, text) in self.products {
            let id = Box::from(id.as_ref());
            match serde_json::from_str::<Quoted>(text.get()) {
                Ok(quoted) => products.extend(quoted.quick_status.map(|status| Product { id, status })),
                Err(_) => nonsense.push(id),
            }
        }
        (products, nonsense)
    }
}

#[derive(Deserialize)]
struct Quoted {
    quick_status: Option<QuickStatus>,
}

/// One product and its prices.
#[derive(Debug)]
pub struct Product {
    /// The id, such as `INK_SACK:3`.
    pub id: Box<str>,
    /// Its prices and volumes.
    pub status: QuickStatus,
}

/// Prices in coins, weighted over the best 2 % of the volume and unrounded; volumes in items.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuickStatus {
    /// What one item brings when sold at once; 0 when nobody buys.
    pub sell_price: f64,
    /// What one item costs when bought at once; 0 when nobody sells.
    pub buy_price: f64,
    /// How many items the open buy orders want.
    #[serde(deserialize_with = "whole_number")]
    pub sell_volume: i64,
    /// How many items the open sell offers hold.
    #[serde(deserialize_with = "whole_number")]
    pub buy_volume: i64,
    /// How many items were sold at once in seven days.
    #[serde(deserialize_with = "whole_number")]
    pub sell_moving_week: i64,
    /// How many items were bought at once in seven days.
    #[serde(deserialize_with = "whole_number")]
    pub buy_moving_week: i64,
}

/// Reads a map of products into a list: a hash map would be filled only to be walked through.
fn products<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Product>, D::Error> {
    struct Products;

    impl<'de> Visitor<'de> for Products {
        type Value = Vec<Product>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("products by id")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut products = Vec::with_capacity(2_048);
            while let Some(id) = map.next_key()? {
                let quoted: Quoted = map.next_value()?;
                // One product without prices is no reason to keep those of all others from everybody.
                products.extend(quoted.quick_status.map(|status| Product { id, status }));
            }
            Ok(products)
        }
    }

    deserializer.deserialize_map(Products)
}
