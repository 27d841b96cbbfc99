//! The game's own lists, which change with its updates: `/v2/resources/skyblock/…`.
//!
//! - An item has many fields, most of them optional and of changing shape. Only `id`, `name` and `material` are always
//!   present, so these are required; `tier` is absent for one item in five.
//! - Collections already have the shape of the service's response and pass through as raw text.

use std::borrow::Cow;

use serde::Deserialize;

use super::error::UpstreamError;
use super::json::{Object, ObjectText, StringText};
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows};

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
#[derive(Deserialize)]
struct Items<I> {
    #[serde(rename = "success")]
    _success: Success,
    items: Vec<I>,
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

impl<'a> Row for Item<'a> {
    const NAME: &'static str = "id";

    type Key = Cow<'a, str>;

    fn key(&self) -> Cow<'a, str> {
        self.id.decoded()
    }

    fn name(&self) -> String {
        self.id.decoded().into_owned()
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.id.is_empty() { Err("id is empty") } else { Ok(()) }
    }
}

/// Returns the items in the provider's response.
///
/// # Errors
/// If the response is invalid.
pub fn items(response: &UpstreamResponse) -> Result<Rows<Item<'_>>, UpstreamError> {
    match response.parse::<Items<Object<Item<'_>>>>() {
        Ok(all) => Ok(all.items.into()),
        Err(_) => Ok(response.parse::<Items<Entry<'_, Item<'_>>>>()?.items.into()),
    }
}
