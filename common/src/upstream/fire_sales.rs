//! The fire sales that run or are announced: `/v2/skyblock/firesales`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json::{StringText, whole_number};
use crate::upstream::Success;

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/firesales";

/// The provider's answer.
#[derive(Debug, Deserialize)]
pub struct FireSales<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sales; usually none.
    #[serde(borrow)]
    pub sales: Vec<FireSale<'a>>,
}

/// The provider's answer, its sales not yet read: whoever can do with some of them reads them one by one.
#[derive(Debug, Deserialize)]
pub struct UnreadFireSales<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The sales.
    #[serde(borrow)]
    pub sales: Vec<&'a RawValue>,
}

/// One fire sale, with the fields that the contract has (`interface.md`, part 2).
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct FireSale<'a> {
    /// The item that is sold.
    #[serde(borrow)]
    pub item_id: StringText<'a>,
    /// When it begins, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub end: i64,
    /// How many are for sale.
    #[serde(deserialize_with = "whole_number")]
    pub amount: i64,
    /// The price of one, in gems.
    #[serde(deserialize_with = "whole_number")]
    pub price: i64,
}
