//! The list of names.

use common::time::UnixSeconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The names of all items that have a price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Names {
    /// When the list was made.
    pub updated_at: UnixSeconds,
    /// The number of ids.
    pub count: usize,
    /// The ids, sorted by id. An id that both markets have is listed once for each.
    pub items: Vec<Name>,
}

impl Names {
    /// False for a new service until both markets are recorded.
    #[must_use]
    pub fn have_both_markets(&self) -> bool {
        [Market::Bazaar, Market::Auctions]
            .iter()
            .all(|market| self.items.iter().any(|item| item.market == *market))
    }
}

/// An id and its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ItemName")]
pub struct Name {
    /// The id in this market.
    pub id: String,
    /// The name as the game shows it, without colour codes. It is not unique. The name of a pet has its tier,
    /// and that of a book its enchantment.
    pub name: String,
    /// The market with a price of this id.
    pub market: Market,
    /// The kind of item.
    pub kind: Kind,
    /// The same item's id in the other market, if that market can have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip_serializing_if = "Option::is_none", with = "String")]
    pub other_id: Option<String>,
    /// Short forms that players type, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip_serializing_if = "Vec::is_empty", with = "Vec<String>")]
    pub aliases: Vec<String>,
}

/// A market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum Market {
    Bazaar,
    Auctions,
}

/// A kind of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Item,
    Pet,
    Enchantment,
    Rune,
    Potion,
    Shard,
    Essence,
}
