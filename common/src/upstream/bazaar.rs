//! The bazaar: `/v2/skyblock/bazaar`, three megabytes every 20 seconds.
//!
//! [`Bazaar`] reads the raw products and [`Market`] the prices. Each parses the body once, so a request takes the time of one.
//!
//! - Names are from the side of the instant trader. `sell_summary` holds the open buy orders, the highest price first, and
//!   `sellPrice` is what an instant sale brings; `buy_summary` holds the open sell offers, the lowest price first. A spread
//!   is therefore `buyPrice - sellPrice`.
//! - Prices are averages over the best 2 % of the volume, weighted and unrounded; 0.0 if that side has no orders. The service
//!   uses them as they are, and the summaries for nothing: those have at most 30 levels, and shorter ones are incomplete too.
//! - A response is not atomic: a product can list an order while its price and volume are 0, so the parts are not compared.
//! - Volumes exceed 32 bits when they are added up: they are `i64`.
//! - The set of products changes between refreshes, and their order is not alphabetical: `mode=list` sorts the ids.
//! - Ids can contain `:` (`INK_SACK:3`), and most of them are not in the item catalogue.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::response::Success;
use crate::json::{ObjectText, whole_number};

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/bazaar";

/// The provider's response with its products as raw text.
#[derive(Debug, Deserialize)]
pub struct Bazaar<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// When the provider refreshed it, in Unix milliseconds.
    #[serde(rename = "lastUpdated", deserialize_with = "whole_number")]
    pub last_updated: i64,
    /// All products by id, in the provider's order.
    #[serde(borrow)]
    pub products: ObjectText<'a>,
}

/// The provider's response with the prices of its products.
#[derive(Debug, Deserialize)]
pub struct Market {
    #[serde(rename = "success")]
    _success: Success,
    /// Not used, but required: without it, the body would be invalid as a [`Bazaar`] and must not be cached.
    #[serde(rename = "lastUpdated", deserialize_with = "whole_number")]
    _last_updated: i64,
    /// The products, in the provider's order.
    #[serde(deserialize_with = "products")]
    pub products: Vec<Product>,
}

/// The provider's response, parsed product by product so that one invalid product does not invalidate the others. [`Market`] takes a
/// third of the time but fails at the first invalid product.
#[derive(Debug, Deserialize)]
pub struct LenientMarket<'a> {
    #[serde(rename = "success")]
    _success: Success,
    #[serde(borrow)]
    products: HashMap<Cow<'a, str>, &'a RawValue>,
}

impl LenientMarket<'_> {
    /// Returns the products with valid prices, and the ids of the others.
    #[must_use]
    pub fn into_valid_and_invalid(self) -> (Vec<Product>, Vec<Box<str>>) {
        let (mut products, mut invalid) = (Vec::new(), Vec::new());
        for (id, text) in self.products {
            let id = Box::from(id.as_ref());
            match serde_json::from_str::<RawProduct>(text.get()) {
                Ok(raw) => products.extend(raw.quick_status.map(|status| Product { id, status })),
                Err(_) => invalid.push(id),
            }
        }
        (products, invalid)
    }
}

#[derive(Deserialize)]
struct RawProduct {
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
    /// The price of an instant sale; 0 if there are no buy orders.
    pub sell_price: f64,
    /// The price of an instant purchase; 0 if there are no sell offers.
    pub buy_price: f64,
    /// The number of items in open buy orders.
    #[serde(deserialize_with = "whole_number")]
    pub sell_volume: i64,
    /// The number of items in open sell offers.
    #[serde(deserialize_with = "whole_number")]
    pub buy_volume: i64,
    /// The number of items sold instantly in the last seven days.
    #[serde(deserialize_with = "whole_number")]
    pub sell_moving_week: i64,
    /// The number of items bought instantly in the last seven days.
    #[serde(deserialize_with = "whole_number")]
    pub buy_moving_week: i64,
}

/// Reads the map of products into a list. A hash map would only be iterated over.
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
                let raw: RawProduct = map.next_value()?;
                // A product without prices is left out and does not invalidate the others.
                products.extend(raw.quick_status.map(|status| Product { id, status }));
            }
            Ok(products)
        }
    }

    deserializer.deserialize_map(Products)
}
