//! The fire sales that are running or announced: `/v2/skyblock/firesales`.
//!
//! - The list is usually empty, and a sale disappears when it ends. Past sales exist only if the service records them.
//! - There is no `lastUpdated`, no id and no remaining amount: a sale is identified by its start and its item.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::response::Success;
use crate::json::{StringText, whole_number};

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/firesales";

/// The provider's response.
#[derive(Debug, Deserialize)]
pub struct FireSales<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sales.
    #[serde(borrow)]
    pub sales: Vec<FireSale<'a>>,
}

/// The provider's response with each sale as raw text, so that one invalid sale does not invalidate the others.
#[derive(Debug, Deserialize)]
pub struct RawFireSales<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sales.
    #[serde(borrow)]
    pub sales: Vec<&'a RawValue>,
}

/// One fire sale.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct FireSale<'a> {
    /// The id of the item for sale.
    #[serde(borrow)]
    pub item_id: StringText<'a>,
    /// When it starts, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub end: i64,
    /// The number of items for sale.
    #[serde(deserialize_with = "whole_number")]
    pub amount: i64,
    /// The price of one item, in gems.
    #[serde(deserialize_with = "whole_number")]
    pub price: i64,
}
