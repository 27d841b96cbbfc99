//! The game's own lists, which change with its updates: `/v2/resources/skyblock/…`.

use serde::Deserialize;

use crate::json::{ObjectText, StringText};
use crate::upstream::Success;

/// The provider's path to the collections.
pub const COLLECTIONS_PATH: &str = "/v2/resources/skyblock/collections";

/// The provider's path to the items.
pub const ITEMS_PATH: &str = "/v2/resources/skyblock/items";

/// The provider's collections.
#[derive(Debug, Deserialize)]
pub struct Collections<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The collections by category, in the shape that the contract has (`interface.md`, part 2).
    #[serde(borrow)]
    pub collections: ObjectText<'a>,
}

/// The provider's items.
#[derive(Debug, Deserialize)]
pub struct Items<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The items, in the provider's order.
    #[serde(borrow)]
    pub items: Vec<Item<'a>>,
}

/// One item: the few of its many fields that are always there, and its rarity.
#[derive(Debug, Deserialize)]
pub struct Item<'a> {
    /// The id, unique among items.
    #[serde(borrow)]
    pub id: StringText<'a>,
    /// The display name; not unique, may hold `§` colour codes.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// The block or item that it looks like.
    #[serde(borrow)]
    pub material: StringText<'a>,
    /// The rarity; one item in five has none.
    #[serde(borrow)]
    pub tier: Option<StringText<'a>>,
}
