//! Schemas of data that passes through unparsed, for the OpenAPI document.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// The data of `mode=full`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct Bazaar {
    /// When the provider refreshed the data, in Unix milliseconds.
    last_updated: i64,
    /// All products by id, in the provider's order.
    products: BTreeMap<String, BazaarProduct>,
}

/// A product as the provider gives it. It may have more fields.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct BazaarProduct {
    /// The product's id.
    product_id: String,
    /// The open buy orders, the highest price first: at most 30 prices.
    sell_summary: Vec<BazaarOrders>,
    /// The open sell offers, the lowest price first: at most 30 prices.
    buy_summary: Vec<BazaarOrders>,
    /// Prices and volumes. Other modes leave out products without them.
    #[schemars(skip_serializing_if = "Option::is_none", with = "BazaarQuickStatus")]
    quick_status: Option<BazaarQuickStatus>,
}

/// Orders or offers at one price. The object may have more fields.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct BazaarOrders {
    /// The number of items in these orders.
    amount: i64,
    /// The price of one item, in coins.
    price_per_unit: f64,
    /// The number of orders.
    orders: i64,
}

/// Prices in coins, not rounded; volumes in items. The object may have more fields.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct BazaarQuickStatus {
    /// The product's id.
    product_id: String,
    /// The average price of the best 2 % of the volume of buy orders, in coins; 0 if there are no buy orders.
    sell_price: f64,
    /// The number of items in open buy orders.
    sell_volume: i64,
    /// The number of items sold instantly in the last seven days. According to the provider, it includes the
    /// live state.
    sell_moving_week: i64,
    /// The number of open buy orders.
    sell_orders: i64,
    /// The average price of the best 2 % of the volume of sell offers, in coins; 0 if there are no sell
    /// offers.
    buy_price: f64,
    /// The number of items in open sell offers.
    buy_volume: i64,
    /// The number of items bought instantly in the last seven days. According to the provider, it includes
    /// the live state.
    buy_moving_week: i64,
    /// The number of open sell offers.
    buy_orders: i64,
}
