//! What passes through unread, as the provider writes it, and the parameters: for the API description only.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::mode::Mode;

/// The data of `mode=full`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct Bazaar {
    /// When the provider made it, in Unix milliseconds.
    last_updated: i64,
    /// All products by id, in the provider's order and as it gives them.
    products: BTreeMap<String, BazaarProduct>,
}

/// A product as the provider gives it. It may have more fields than these.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct BazaarProduct {
    /// The product's id.
    product_id: String,
    /// Open buy orders, the highest price first, 30 prices at the most.
    sell_summary: Vec<BazaarOrders>,
    /// Open sell offers, the lowest price first, 30 prices at the most.
    buy_summary: Vec<BazaarOrders>,
    /// Prices and volumes. A product for which the provider leaves them out is in no other mode.
    #[schemars(skip_serializing_if = "Option::is_none", with = "BazaarQuickStatus")]
    quick_status: Option<BazaarQuickStatus>,
}

/// Orders or offers at one price.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct BazaarOrders {
    /// How many items they are for together.
    amount: i64,
    /// The price of one item, in coins.
    price_per_unit: f64,
    /// How many they are.
    orders: i64,
}

/// Prices in coins, weighted over the best 2 % of the volume and not rounded; volumes in items.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
struct BazaarQuickStatus {
    /// The product's id once more.
    product_id: String,
    /// What one item brings when sold at once, in coins; 0 when nobody buys.
    sell_price: f64,
    /// How many items the open buy orders want.
    sell_volume: i64,
    /// How many items were sold at once in seven days.
    sell_moving_week: i64,
    /// How many buy orders are open.
    sell_orders: i64,
    /// What one item costs when bought at once, in coins; 0 when nobody sells.
    buy_price: f64,
    /// How many items the open sell offers hold.
    buy_volume: i64,
    /// How many items were bought at once in seven days.
    buy_moving_week: i64,
    /// How many sell offers are open.
    buy_orders: i64,
}

impl JsonSchema for Mode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Mode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let [(default, _), ..] = Self::ALL;
        json_schema!({"type": "string", "enum": Self::ALL.map(|(name, _)| name), "default": default})
    }
}

impl JsonSchema for crate::ProductId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ProductId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}
