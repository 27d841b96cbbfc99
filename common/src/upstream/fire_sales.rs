//! The fire sales that are running or announced: `/v2/skyblock/firesales`.
//!
//! - The list is usually empty, and a sale disappears when it ends. Past sales exist only if the service
//!   records them.
//! - There is no `lastUpdated`, no id and no remaining amount: the start and the item identify a sale.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows, check_period};
use crate::json::{Object, StringText, whole_number};

pub const PATH: &str = "/v2/skyblock/firesales";

#[derive(Deserialize)]
struct FireSales<S> {
    #[serde(rename = "success")]
    _success: Success,
    sales: Vec<S>,
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

impl<'a> Row for FireSale<'a> {
    const NAME: &'static str = "item_id";

    /// The start and the item, because the same item may be sold again.
    type Key = (i64, Cow<'a, str>);

    fn key(&self) -> Self::Key {
        (self.start, self.item_id.decoded())
    }

    fn name(&self) -> String {
        self.item_id.decoded().into_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.item_id.is_empty() {
            return Err("item_id is empty");
        }
        if self.amount < 0 || self.price < 0 {
            return Err("amount or price is negative");
        }
        check_period(self.start, self.end)
    }
}

pub fn parse(response: &UpstreamResponse) -> Result<Rows<FireSale<'_>>, UpstreamError> {
    match response.parse::<FireSales<Object<FireSale<'_>>>>() {
        Ok(all) => Ok(all.sales.into()),
        Err(_) => Ok(response.parse::<FireSales<Entry<'_, FireSale<'_>>>>()?.sales.into()),
    }
}
