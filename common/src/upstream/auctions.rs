//! The auction house, page by page: `/v2/skyblock/auctions`.
//!
//! - Every page is a separate snapshot, refreshed every 60 s. Two pages can be a minute apart, and
//!   `totalPages` can shrink from one page to the next. The service therefore caches each page separately.
//! - The provider responds with 404 to a page beyond the last, and with 422 to a page number that is too
//!   large for the provider. Both mean that the page does not exist. For a moment during a refresh, however,
//!   the provider also responds with 404 to existing pages.
//! - `highest_bid_amount` is always present. It is 0 without bids.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::StatusCode;
use super::client::{Upstream, UpstreamRequest};
use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows, check_period};
use crate::invocation::Invocation;
use crate::json::{Object, StringText, whole_number};
use crate::request::parameters::PageNumber;

pub const PATH: &str = "/v2/skyblock/auctions";

/// How often the provider refreshes a page.
pub const REFRESH: Duration = Duration::from_mins(1);

/// The possible prices of a stack, in coins. The highest one is above any purse of the game.
pub const STACK_PRICES: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// The provider's response.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuctionsPage<A> {
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
    /// When the provider refreshed this page, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub last_updated: i64,
    /// The auctions of this page, the last updated one first.
    pub auctions: A,
}

/// One running auction.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Auction<'a> {
    /// The id of the auction: 32 hexadecimal digits.
    #[serde(borrow)]
    pub uuid: StringText<'a>,
    /// The id of the player who sells: 32 hexadecimal digits.
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
    /// When it started, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub end: i64,
}

impl<'a> Row for Auction<'a> {
    const NAME: &'static str = "uuid";

    type Key = Cow<'a, str>;

    fn key(&self) -> Cow<'a, str> {
        self.uuid.decoded()
    }

    fn name(&self) -> String {
        self.uuid.decoded().into_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.uuid.is_empty() || self.auctioneer.is_empty() {
            return Err("uuid or auctioneer is empty");
        }
        if self.starting_bid < 0 || self.highest_bid_amount < 0 {
            return Err("starting_bid or highest_bid_amount is negative");
        }
        check_period(self.start, self.end)
    }
}

/// The id of an auction. It displays as 32 hexadecimal digits, as the provider writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuctionId(u128);

impl AuctionId {
    /// Returns the id with these bytes, in the order of the digits.
    #[must_use]
    pub const fn of_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Returns the bytes, in the order of the digits.
    #[must_use]
    pub const fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for AuctionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl Serialize for AuctionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not the id of an auction.
#[derive(Debug, thiserror::Error)]
#[error("the id of an auction must have 32 hexadecimal digits")]
pub struct NotAnAuction;

impl FromStr for AuctionId {
    type Err = NotAnAuction;

    fn from_str(text: &str) -> Result<Self, NotAnAuction> {
        let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = is_id.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        id.map(Self).ok_or(NotAnAuction)
    }
}

impl<'de> Deserialize<'de> for AuctionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A running auction, with the fields from which the recorder computes prices.
#[derive(Debug, Deserialize)]
pub struct Listing<'a> {
    pub uuid: AuctionId,
    /// Whether it is a buy-it-now auction. Old responses have the field only if it is `true`.
    #[serde(default)]
    pub bin: bool,
    /// The first bid, or the price of a buy-it-now auction, in coins, for the whole stack.
    #[serde(deserialize_with = "whole_number")]
    pub starting_bid: i64,
    /// When it started, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub start: i64,
    /// When it ends, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub end: i64,
    /// The time of the newest bid, or the start if there are no bids, in Unix milliseconds.
    #[serde(deserialize_with = "whole_number")]
    pub last_updated: i64,
    /// The item: Base64 of gzip of NBT.
    #[serde(borrow)]
    pub item_bytes: Cow<'a, str>,
    /// Whether the sale is settled. False if the field is missing or odd.
    #[serde(default, deserialize_with = "is_true")]
    claimed: bool,
    /// Whether there is a bid. False if the field is missing or odd.
    #[serde(default, rename = "highest_bid_amount", deserialize_with = "is_positive")]
    has_bid: bool,
}

impl Listing<'_> {
    /// Whether it is a buy-it-now auction that a player has bought. Its only bid is the sale.
    #[must_use]
    pub const fn is_sold(&self) -> bool {
        self.bin && (self.claimed || self.has_bid)
    }
}

/// Whether a value is `true`. Any other value is not an error.
fn is_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(<&RawValue>::deserialize(deserializer)?.get() == "true")
}

/// Whether a value is a number above 0. Any other value is not an error.
fn is_positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let number: Result<f64, _> = <&RawValue>::deserialize(deserializer)?.get().parse();
    Ok(number.is_ok_and(|number| number > 0.0))
}

impl Row for Listing<'_> {
    const NAME: &'static str = "uuid";

    type Key = AuctionId;

    fn key(&self) -> AuctionId {
        self.uuid
    }

    fn name(&self) -> String {
        self.uuid.to_string()
    }

    fn check(&self) -> Result<(), &'static str> {
        check_price(self.starting_bid)?;
        check_period(self.start, self.end)
    }
}

/// Checks the price of a stack, in coins.
///
/// # Errors
/// If the price is not one of [`STACK_PRICES`].
pub(super) fn check_price(coins: i64) -> Result<(), &'static str> {
    let is_price = u64::try_from(coins).is_ok_and(|coins| STACK_PRICES.contains(&coins));
    if is_price { Ok(()) } else { Err("its price is below 1 or too high") }
}

/// The provider's error body.
#[derive(Deserialize)]
struct ErrorBody {
    success: bool,
}

/// Returns the provider's response for `page`; `None` if the page is beyond the last. A 404 or 422 is a
/// failure for the first page, and for a page that `is_known` to exist.
pub async fn fetch(
    upstream: &Upstream,
    invocation: &Invocation,
    page: PageNumber,
    is_known: bool,
) -> Result<Option<UpstreamResponse>, UpstreamError> {
    const BEYOND_THE_LAST: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::UNPROCESSABLE_ENTITY];
    let number = page.get().to_string();
    let expected_statuses = if is_known || page == PageNumber::default() { &[] } else { BEYOND_THE_LAST };
    let request = UpstreamRequest {
        parameter: Some(("page", &number)),
        expected_statuses,
        ..UpstreamRequest::of(PATH)
    };
    let response = upstream.get(invocation, &request).await?;
    if !expected_statuses.contains(&response.status) {
        return Ok(Some(response));
    }
    let failure: ErrorBody = response.parse()?;
    if failure.success { Err(response.invalid("an error that says success: true")) } else { Ok(None) }
}

impl<A> AuctionsPage<A> {
    fn with_rows<T>(self) -> AuctionsPage<Rows<T>>
    where
        A: Into<Rows<T>>,
    {
        let Self { page, total_pages, total_auctions, last_updated, auctions, .. } = self;
        AuctionsPage {
            _success: Success,
            page,
            total_pages,
            total_auctions,
            last_updated,
            auctions: auctions.into(),
        }
    }
}

/// Parses the provider's response to the request for the page `requested`, whose rows are of the type `A`:
/// [`Auction`] or [`Listing`].
///
/// # Errors
/// If the response is invalid or has the number of another page.
pub fn parse<'a, A: Row + Deserialize<'a>>(
    requested: PageNumber,
    response: &'a UpstreamResponse,
) -> Result<AuctionsPage<Rows<A>>, UpstreamError> {
    let page = match response.parse::<AuctionsPage<Vec<Object<A>>>>() {
        Ok(page) => page.with_rows(),
        Err(_) => response.parse::<AuctionsPage<Vec<Entry<'_, A>>>>()?.with_rows(),
    };
    if page.page != i64::from(requested.get()) {
        return Err(response.invalid("it holds another page"));
    }
    if page.total_pages < 0 || page.total_auctions < 0 || page.last_updated < 0 {
        return Err(response.invalid("a total or the time is negative"));
    }
    Ok(page)
}
