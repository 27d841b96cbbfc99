//! The bazaar: `/v2/skyblock/bazaar`, three megabytes every 20 seconds.
//!
//! [`market`] reads the averages. Most requests read no orders, so [`order_book`] reads the orders of one
//! product separately, at the position that `market` has found. [`prices::prices`] returns the prices of the
//! best orders of all products.
//!
//! - Names are from the side of the instant trader. `sell_summary` holds the open buy orders, the highest
//!   price first, and `sellPrice` is their average; `buy_summary` holds the open sell offers, the lowest
//!   price first. A spread is therefore `buyPrice - sellPrice`.
//! - Prices are averages over the best 2 % of the volume, weighted and unrounded; 0.0 without orders. An
//!   instant sale gets the price of the best buy order, which can be far above the average. The service uses
//!   the averages as they are. It computes no averages from the summaries, because a summary has at most 30
//!   levels, and even a shorter summary can be incomplete.
//! - A response is not atomic: a product can list an order while its price and volume are 0, so the service
//!   does not compare orders with prices and volumes.
//! - Volumes are `i64`, because their sums exceed 32 bits.
//! - The set of products changes between refreshes. Products are not in alphabetical order, so `mode=list`
//!   sorts the ids.
//! - Ids can contain `:` (`INK_SACK:3`), and most of them are not in the item catalogue.

mod outline;
pub mod prices;
pub mod spread;

use std::cmp::Ordering;
use std::ops::Range;
use std::time::Duration;

use foldhash::fast::RandomState;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use self::outline::Outline;
use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, KeySet, Rows, Skipped};
use crate::json::{Members, Object, whole_number};

/// The highest price of one item, in coins: more than any purse of the game holds.
pub const HIGHEST_PRICE: f64 = 1e12;

/// The lowest price of one item, in coins. A lower price is recorded as 0, because recorded prices are exact
/// to 0.01 coins.
const LOWEST_PRICE: f64 = 0.005;

pub const PATH: &str = "/v2/skyblock/bazaar";

/// How often the provider refreshes the bazaar.
pub const REFRESH: Duration = Duration::from_secs(20);

/// The provider's response. Ids are raw text, so that an id that is not a string does not hide the other
/// products.
#[derive(Deserialize)]
struct RawMarket<'a, P> {
    #[serde(rename = "success")]
    _success: Success,
    #[serde(rename = "lastUpdated", deserialize_with = "whole_number")]
    last_updated: i64,
    #[serde(borrow, bound(deserialize = "P: Deserialize<'de>"))]
    products: Members<&'a RawValue, P>,
}

#[derive(Debug, Deserialize)]
struct RawProduct {
    quick_status: Option<Object<QuickStatus>>,
}

#[derive(Debug)]
pub struct Market {
    /// The products, in the provider's order.
    pub products: Rows<Product>,
    /// When the provider refreshed the bazaar, in Unix milliseconds.
    pub last_updated: i64,
    /// The range of the raw products in the body, empty if there are no products; `None` if their orders were
    /// not read.
    pub raw: Option<Range<usize>>,
}

/// Whether [`market`] reads the orders, which are five sixths of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// The orders are read. A body whose orders are not JSON is invalid.
    Read,
    /// The orders are left out, so they can be malformed.
    LeftOut,
}

#[derive(Debug)]
pub struct Product {
    /// The id, such as `INK_SACK:3`.
    pub id: Box<str>,
    /// The prices and volumes of the product.
    pub status: QuickStatus,
    /// The position in the body at which the id ends, in bytes. The other data of the product follows.
    pub position: usize,
}

/// Prices in coins, weighted over the best 2 % of the volume and unrounded; volumes in items.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuickStatus {
    /// The average price of buy orders; 0 without buy orders.
    pub sell_price: f64,
    /// The average price of sell offers; 0 without sell offers.
    pub buy_price: f64,
    /// The number of items in open buy orders.
    #[serde(deserialize_with = "whole_number")]
    pub sell_volume: i64,
    /// The number of items in open sell offers.
    #[serde(deserialize_with = "whole_number")]
    pub buy_volume: i64,
    /// The number of items sold instantly in the last seven days. According to the provider, it includes the
    /// live state.
    #[serde(deserialize_with = "whole_number")]
    pub sell_moving_week: i64,
    /// The number of items bought instantly in the last seven days. According to the provider, it includes
    /// the live state.
    #[serde(deserialize_with = "whole_number")]
    pub buy_moving_week: i64,
}

/// Whether there is a price on at least one side.
const fn has_price(sell_price: f64, buy_price: f64) -> bool {
    sell_price >= LOWEST_PRICE || buy_price >= LOWEST_PRICE
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
/// If the response is invalid, or no product has a price: the provider sends such bodies while it starts.
pub fn market(response: &UpstreamResponse, orders: Orders) -> Result<Market, UpstreamError> {
    let outline = match orders {
        Orders::Read => Outline::whole(&response.body),
        Orders::LeftOut => Outline::of(&response.body),
    };
    let (last_updated, members) = members(&outline.text).map_err(|error| response.invalid(error))?;
    let raw = (orders == Orders::Read)
        .then(|| range_of(&response.body, members.iter().map(|(key, _)| key.get())).unwrap_or_default());
    let member = |(key, status): (&RawValue, Result<QuickStatus, String>)| {
        let position = outline.position_in_body(range_in(&outline.text, key.get()).end);
        match serde_json::from_str::<Box<str>>(key.get()) {
            Ok(id) => (id, status, position),
            Err(error) => (key.get().into(), Err(error.to_string()), position),
        }
    };
    let members: Vec<_> = members.into_iter().map(member).collect();
    let mut ids = KeySet::with_capacity_and_hasher(members.len(), RandomState::default());
    // If a key repeats, its last product counts, as in every JSON parser with which a client may read
    // `mode=full`.
    let mut is_last: Vec<bool> = members.iter().rev().map(|(id, ..)| ids.insert(&**id)).collect();
    is_last.reverse();
    let mut usable = Vec::with_capacity(members.len());
    let mut skipped = Skipped::default();
    for ((id, status, position), is_last) in members.into_iter().zip(is_last) {
        match status {
            _ if !is_last => skipped.add(id, "a later product has the same id"),
            _ if id.is_empty() => skipped.add(id, "the id is empty"),
            Ok(status) => usable.push(Product { id, status, position }),
            Err(reason) => skipped.add(id, reason),
        }
    }
    let products = Rows { usable, skipped };
    let is_priced = |Product { status, .. }: &Product| has_price(status.sell_price, status.buy_price);
    if !products.usable.iter().any(is_priced) {
        let nonsense = products.nonsense(response).unwrap_or_default();
        return Err(response.invalid(format_args!("no product has a price. {nonsense}")));
    }
    Ok(Market { products, last_updated, raw })
}

type Member<'a> = (&'a RawValue, Result<QuickStatus, String>);

/// Returns the time of the refresh, and all products by their ids.
fn members(text: &str) -> Result<(i64, Vec<Member<'_>>), serde_json::Error> {
    // Parses all products at once, and each product separately only if this fails, because each product is
    // then read twice.
    if let Ok(Object(market)) = serde_json::from_str::<Object<RawMarket<'_, Object<RawProduct>>>>(text) {
        let products = market.products.0.into_iter();
        let members = products.map(|(key, Object(product))| (key, product.checked()));
        return Ok((market.last_updated, members.collect()));
    }
    let Object(market) = serde_json::from_str::<Object<RawMarket<'_, Entry<'_, RawProduct>>>>(text)?;
    let products = market.products.0.into_iter().map(|(key, product)| match product {
        Entry::Parsed(product) => (key, product.checked()),
        Entry::Unparsed(_, reason) => (key, Err(reason)),
    });
    Ok((market.last_updated, products.collect()))
}

/// Returns the range of `part` in `document`, from which it was parsed.
fn range_in(document: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(document.as_ptr().addr());
    start..start + part.len()
}

/// Returns the range of the object with these keys in `document`, from which the keys were parsed; `None`
/// without keys.
fn range_of<'a>(
    document: &str,
    mut keys: impl DoubleEndedIterator<Item = &'a str> + Clone,
) -> Option<Range<usize>> {
    let first = keys.clone().next()?;
    let last = keys.next_back()?;
    let start = document.get(..range_in(document, first).start)?.rfind('{')?;
    let value = value_at(document, range_in(document, last).end);
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let length = values.byte_offset();
    let end = range_in(document, value).start + length + value.get(length..)?.find('}')? + 1;
    Some(start..end)
}

/// Returns the rest of the document, from the value whose key ends at this position.
fn value_at(document: &str, position: usize) -> &str {
    const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
    let text = document.get(position..).unwrap_or_default().trim_start_matches(WHITE_SPACE);
    text.strip_prefix(':').unwrap_or_default()
}

/// The open orders of a product. The provider gives at most 30 levels per side.
#[derive(Debug)]
pub struct OrderBook {
    /// The buy orders, the highest price first.
    pub buy_orders: Vec<Level>,
    /// The sell offers, the lowest price first.
    pub sell_offers: Vec<Level>,
}

/// The orders at one price.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// The price of one item, in coins.
    pub price_per_unit: f64,
    /// The number of items in the orders.
    #[serde(deserialize_with = "whole_number")]
    pub amount: i64,
    /// The number of orders.
    #[serde(deserialize_with = "whole_number")]
    pub orders: i64,
}

impl Level {
    fn check(&self) -> Result<(), &'static str> {
        if !(self.price_per_unit > 0.0 && self.price_per_unit <= HIGHEST_PRICE) {
            return Err("a price is not above 0, or is above 1e12");
        }
        if self.amount < 1 || self.orders < 1 { Err("an order is without items") } else { Ok(()) }
    }
}

/// A product with its open orders, in the provider's names.
#[derive(Deserialize)]
struct RawOrders<L> {
    sell_summary: Vec<L>,
    buy_summary: Vec<L>,
}

/// A side of an order book.
#[derive(Debug, Clone, Copy)]
enum Side {
    BuyOrders,
    SellOffers,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::BuyOrders => "sell_summary",
            Self::SellOffers => "buy_summary",
        }
    }

    /// Compares two levels: the level with the better price is less.
    fn compare(self, one: &Level, other: &Level) -> Ordering {
        let rising = one.price_per_unit.total_cmp(&other.price_per_unit);
        match self {
            Self::BuyOrders => rising.reverse(),
            Self::SellOffers => rising,
        }
    }

    /// Returns the best price; `None` without levels.
    fn best<'a>(self, levels: impl Iterator<Item = &'a Level>) -> Option<f64> {
        levels.min_by(|one, other| self.compare(one, other)).map(|level| level.price_per_unit)
    }
}

/// Returns the open orders of a product of [`market`]. The levels are sorted by price, whatever the
/// provider's order.
///
/// # Errors
/// If a side is missing, or more than half of its levels are invalid. Such a side is not returned as empty,
/// because that would mean that there are no orders.
pub fn order_book(response: &UpstreamResponse, product: &Product) -> Result<OrderBook, UpstreamError> {
    let text = value_at(&response.body, product.position);
    // Not `from_str`, which would refuse the rest of the body after the product.
    let orders = Object::deserialize(&mut serde_json::Deserializer::from_str(text));
    let Object(RawOrders { sell_summary, buy_summary }) =
        orders.map_err(|error| response.invalid(format_args!("the orders of {}: {error}", product.id)))?;
    let id = &product.id;
    let sorted = |entries, side: Side| {
        let mut levels = levels(entries, &format!("{id} {}", side.name())).into_usable(response)?;
        levels.sort_by(|one, other| side.compare(one, other));
        Ok(levels)
    };
    let buy_orders = sorted(sell_summary, Side::BuyOrders)?;
    Ok(OrderBook { buy_orders, sell_offers: sorted(buy_summary, Side::SellOffers)? })
}

/// Returns the levels of one side of an order book. `side` is the name of the side in the log.
fn levels(entries: Vec<Entry<'_, Level>>, side: &str) -> Rows<Level> {
    let mut usable = Vec::with_capacity(entries.len());
    let mut skipped = Skipped::default();
    for (position, entry) in entries.into_iter().enumerate() {
        let level = match entry {
            Entry::Parsed(level) => level.check().map(|()| level).map_err(str::to_owned),
            Entry::Unparsed(_, reason) => Err(reason),
        };
        match level {
            Ok(level) => usable.push(level),
            Err(reason) => skipped.add(format!("{side} #{position}"), reason),
        }
    }
    Rows { usable, skipped }
}
