//! The bazaar: `/v2/skyblock/bazaar`, three megabytes every 20 seconds.
//!
//! [`Bazaar`] reads the raw products and [`market`] the prices. Each parses the body once, so a request takes the time of one.
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

use foldhash::fast::RandomState;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{KeySet, Rows, Skipped};
use crate::json::{Members, Object, ObjectText, whole_number};

/// The highest price of one item, in coins: the purses of the game hold less.
pub const HIGHEST_PRICE: f64 = 1e12;

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

/// The provider's response with its products as `P`.
#[derive(Deserialize)]
struct Market<P> {
    #[serde(rename = "success")]
    _success: Success,
    products: P,
}

#[derive(Deserialize)]
struct RawProduct {
    quick_status: Option<Object<QuickStatus>>,
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

impl QuickStatus {
    fn check(&self) -> Result<(), &'static str> {
        const PRICES: std::ops::RangeInclusive<f64> = 0.0..=HIGHEST_PRICE;
        if !PRICES.contains(&self.sell_price) || !PRICES.contains(&self.buy_price) {
            return Err("a price is negative or above 1e12");
        }
        let volumes = [self.sell_volume, self.buy_volume, self.sell_moving_week, self.buy_moving_week];
        if volumes.into_iter().any(i64::is_negative) { Err("a volume is negative") } else { Ok(()) }
    }
}

impl RawProduct {
    fn checked(self) -> Result<QuickStatus, String> {
        let Object(status) = self.quick_status.ok_or("it has no quick_status")?;
        status.check()?;
        Ok(status)
    }
}

/// Returns the products with their prices, in the provider's order.
///
/// # Errors
/// If the response is invalid.
pub fn market(response: &UpstreamResponse) -> Result<Rows<Product>, UpstreamError> {
    let members: Vec<(Box<str>, Result<QuickStatus, String>)> =
        if let Ok(market) = response.parse::<Market<Members<Box<str>, Object<RawProduct>>>>() {
            market.products.0.into_iter().map(|(id, Object(product))| (id, product.checked())).collect()
        } else {
            let market: Market<Members<&RawValue, &RawValue>> = response.parse()?;
            market.products.0.into_iter().map(|(id, product)| parsed(id, product)).collect()
        };
    let mut ids = KeySet::with_capacity_and_hasher(members.len(), RandomState::default());
    // As in every JSON parser that a client may read `mode=full` with, the last of equal keys counts.
    let mut is_last: Vec<bool> = members.iter().rev().map(|(id, _)| ids.insert(&**id)).collect();
    is_last.reverse();
    let (mut usable, mut skipped) = (Vec::with_capacity(members.len()), Skipped::default());
    for ((id, status), is_last) in members.into_iter().zip(is_last) {
        match status {
            _ if !is_last => skipped.add(id, "a later product has the same id"),
            _ if id.is_empty() => skipped.add(id, "the id is empty"),
            Ok(status) => usable.push(Product { id, status }),
            Err(reason) => skipped.add(id, reason),
        }
    }
    Ok(Rows { usable, skipped })
}

/// Parses one product and its id.
fn parsed(id: &RawValue, product: &RawValue) -> (Box<str>, Result<QuickStatus, String>) {
    match serde_json::from_str::<Box<str>>(id.get()) {
        Ok(id) => {
            let product = serde_json::from_str(product.get()).map_err(|error| error.to_string());
            (id, product.and_then(|Object(product): Object<RawProduct>| product.checked()))
        }
        Err(error) => (id.get().into(), Err(error.to_string())),
    }
}
