//! The game's own lists, which change with its updates: `/v2/resources/skyblock/…`.
//!
//! - An item has many fields, most of them optional and of changing shape. Only `id`, `name` and `material` are always
//!   present, so these are required; `tier` is absent for one item in five.
//! - Collections already have the shape of the service's response and pass through as raw text.

use serde::Deserialize;

use super::response::Success;
use crate::json::{ObjectText, StringText};

/// The provider's path to the collections.
pub const COLLECTIONS_PATH: &str = "/v2/resources/skyblock/collections";

/// The provider's path to the items.
pub const ITEMS_PATH: &str = "/v2/resources/skyblock/items";

/// The provider's collections.
#[derive(Debug, Deserialize)]
pub struct Collections<'a> {
    #[serde(rename = "success")]
    _success: Success,
    /// The collections by category.
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

/// One item.
#[derive(Debug, Deserialize)]
pub struct Item<'a> {
    /// The id, which is unique.
    #[serde(borrow)]
    pub id: StringText<'a>,
    /// The display name. It is not unique and may contain `§` colour codes.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// The block or item that it looks like.
    #[serde(borrow)]
    pub material: StringText<'a>,
    /// The rarity.
    #[serde(borrow)]
    pub tier: Option<StringText<'a>>,
}
