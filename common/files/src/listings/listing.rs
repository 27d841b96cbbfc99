//! A running auction, in the object and in responses.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use common::coins::Coins;
use common::pet_level::PetLevel;
use common::upstream::auctions::AuctionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What changes the price of a copy of an item. A field that does not apply to the item is null.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Properties {
    /// Whether the item is clean: it has no enchantments, reforge, stars, gems, skin or other upgrades. The
    /// level of a pet does not matter.
    pub clean: bool,
    /// The level of a pet, from 1 to 200; null for other items.
    pub level: Option<PetLevel>,
    /// The number of stars; null without stars.
    pub stars: Option<u8>,
    /// Whether the item is recombobulated: its rarity is one higher.
    pub recombobulated: bool,
    /// The name of the reforge, such as `withered`; null without a reforge.
    pub reforge: Option<Box<str>>,
    /// The level of each enchantment, by name; null without enchantments.
    pub enchantments: Option<BTreeMap<Box<str>, u8>>,
    /// The id of the item that a pet holds; null without one.
    pub held_item: Option<Box<str>>,
    /// The skin of the item or pet; null without a skin.
    pub skin: Option<Box<str>>,
}

/// A running buy-it-now auction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AuctionsListing")]
pub struct Listing<P = Properties> {
    /// The auction: 32 hexadecimal digits. In the game, `/viewauction` opens it.
    #[schemars(with = "String")]
    pub auction: AuctionId,
    /// The price of one item in coins, exact to 0.01. A stack is sold as a whole.
    #[serde(with = "common::coins::in_coins")]
    #[schemars(with = "f64")]
    pub price: Coins,
    /// The number of items.
    #[schemars(with = "u32")]
    pub amount: NonZeroU32,
    /// When the auction ends, in Unix milliseconds. It can be sold earlier.
    pub end: i64,
    #[serde(flatten)]
    pub properties: P,
}

impl<P> Listing<P> {
    /// Returns the sort key: auctions are sorted by price and id.
    pub const fn position(&self) -> (Coins, AuctionId) {
        (self.price, self.auction)
    }
}
