//! The auctions that players won recently: `/v2/skyblock/auctions_ended`.
//!
//! - The list is refreshed every 60 s, and has the sales of the previous 60 to 64 s. Two successive lists
//!   overlap by up to four seconds. The sales of a list that the service misses are lost.
//! - Auctions that expired or were cancelled are not in the list.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;

use super::auctions::{AuctionId, check_price};
use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows, check_period};
use crate::json::whole_number;

pub const PATH: &str = "/v2/skyblock/auctions_ended";

/// How far back from its refresh a list has every sale.
pub const COVERED: Duration = Duration::from_mins(1);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    #[serde(rename = "success")]
    _success: Success,
    #[serde(deserialize_with = "whole_number")]
    last_updated: i64,
    #[serde(borrow)]
    auctions: Vec<Entry<'a, EndedAuction<'a>>>,
}

/// An auction that a player won. Names and ids of players are not read.
#[derive(Debug, Deserialize)]
pub struct EndedAuction<'a> {
    pub auction_id: AuctionId,
    /// When it was sold, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub timestamp: i64,
    /// The price of the whole stack, in coins.
    #[serde(deserialize_with = "whole_number")]
    pub price: i64,
    /// Whether it was a buy-it-now auction.
    #[serde(default)]
    pub bin: bool,
    /// The item: Base64 of gzip of NBT.
    #[serde(borrow)]
    pub item_bytes: Cow<'a, str>,
}

impl Row for EndedAuction<'_> {
    const NAME: &'static str = "auction_id";

    type Key = AuctionId;

    fn key(&self) -> AuctionId {
        self.auction_id
    }

    fn name(&self) -> String {
        self.auction_id.to_string()
    }

    fn check(&self) -> Result<(), &'static str> {
        check_price(self.price)?;
        check_period(self.timestamp, self.timestamp)
    }
}

/// Returns the time of the provider's refresh of the list, in Unix milliseconds, and the rows of the list.
pub fn parse(response: &UpstreamResponse) -> Result<(i64, Rows<EndedAuction<'_>>), UpstreamError> {
    let Response { last_updated, auctions, .. } = response.parse()?;
    if last_updated < 0 {
        return Err(response.invalid("its time is negative"));
    }
    Ok((last_updated, auctions.into()))
}
