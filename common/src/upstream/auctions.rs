//! The auction house, page by page: `/v2/skyblock/auctions`. Every page is a snapshot of its own: `total_pages` can
//! shrink from one page to the next.

use serde::{Deserialize, Serialize};

use crate::invocation::Invocation;
use crate::json::{StringText, whole_number};
use crate::params::Page;
use crate::upstream::{Question, Reply, StatusCode, Success, Upstream, UpstreamError};

/// The provider's path.
pub const PATH: &str = "/v2/skyblock/auctions";

/// The provider's answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuctionsPage<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The page, counted from 0.
    #[serde(deserialize_with = "whole_number")]
    pub page: i64,
    /// How many pages there are.
    #[serde(deserialize_with = "whole_number")]
    pub total_pages: i64,
    /// How many auctions there are on all pages.
    #[serde(deserialize_with = "whole_number")]
    pub total_auctions: i64,
    /// When the provider made this page, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub last_updated: i64,
    /// The auctions of this page, the latest changed first.
    #[serde(borrow)]
    pub auctions: Vec<Auction<'a>>,
}

/// One auction, with the fields that the contract has (`interface.md`, part 2).
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Auction<'a> {
    /// The auction: 32 hexadecimal digits.
    #[serde(borrow)]
    pub uuid: StringText<'a>,
    /// The player who sells: 32 hexadecimal digits.
    #[serde(borrow)]
    pub auctioneer: StringText<'a>,
    /// The display name of the item.
    #[serde(borrow)]
    pub item_name: StringText<'a>,
    /// The description of the item, with the game's `§` colour codes.
    #[serde(borrow)]
    pub item_lore: StringText<'a>,
    /// The first bid, or the price of a buy-it-now auction, in coins.
    #[serde(deserialize_with = "whole_number")]
    pub starting_bid: i64,
    /// The highest bid so far, in coins; 0 without bids.
    #[serde(deserialize_with = "whole_number")]
    pub highest_bid_amount: i64,
    /// Whether it is a buy-it-now auction.
    pub bin: bool,
    /// When it began, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub end: i64,
}

/// The provider's way to say no.
#[derive(Deserialize)]
struct Refusal {
    success: bool,
}

/// The provider's answer for `page`, or `None` for a page beyond the last. The first page always exists, whatever the
/// provider says.
///
/// # Errors
/// If the provider gives no usable answer.
pub async fn fetch(
    upstream: &Upstream,
    invocation: &Invocation,
    page: Page,
) -> Result<Option<Reply>, UpstreamError> {
    // 404 for a page beyond the last, 422 for a number that the provider cannot read as a page.
    const BEYOND_THE_LAST: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::UNPROCESSABLE_ENTITY];
    let number = page.get().to_string();
    let refusals = if page == Page::default() { &[] } else { BEYOND_THE_LAST };
    let question = Question { path: PATH, parameter: Some(("page", &number)), refusals };
    let reply = upstream.get(invocation, &question).await?;
    if !refusals.contains(&reply.status) {
        return Ok(Some(reply));
    }
    let refusal: Refusal = reply.parse()?;
    if refusal.success { Err(reply.nonsense("a refusal that says success: true")) } else { Ok(None) }
}

/// The page in the provider's answer to the question for `asked`.
///
/// # Errors
/// If the answer makes no sense or is another page.
pub fn parse(asked: Page, reply: &Reply) -> Result<AuctionsPage<'_>, UpstreamError> {
    let page: AuctionsPage = reply.parse()?;
    if page.page == i64::from(asked.get()) { Ok(page) } else { Err(reply.nonsense("it is another page")) }
}
