//! The items of the game, which change with its updates: `/v2/resources/skyblock/items`.
//!
//! An item has many fields. Most fields are optional, and their shapes change. Only `id`, `name` and `material` are always
//! present, so these are required. `tier` is absent for one item in five.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows};
use crate::json::{Object, StringText};

/// The provider's path.
pub const PATH: &str = "/v2/resources/skyblock/items";

/// The provider's items.
#[derive(Deserialize)]
struct Items<I> {
    #[serde(rename = "success")]
    _success: Success,
    items: Vec<I>,
}

#[derive(Debug, Deserialize)]
pub struct Item<'a> {
    /// The id, which is unique.
    #[serde(borrow)]
    pub id: StringText<'a>,
    /// The display name. It is not unique and may contain `§` colour codes.
    #[serde(borrow)]
    pub name: StringText<'a>,
    /// The block or item of Minecraft that the item looks like.
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

/// An item as the provider sends it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct WholeItem<'a> {
    #[serde(skip)]
    item: Item<'a>,
    text: &'a RawValue,
}

impl<'a> Row for WholeItem<'a> {
    const NAME: &'static str = Item::NAME;

    type Key = Cow<'a, str>;

    fn key(&self) -> Cow<'a, str> {
        self.item.key()
    }

    fn name(&self) -> String {
        self.item.name()
    }

    fn check(&self) -> Result<(), &'static str> {
        self.item.check()
    }
}

/// Returns the items in the provider's response with all of their fields.
///
/// # Errors
/// If the response is invalid.
pub fn parse_whole(response: &UpstreamResponse) -> Result<Rows<WholeItem<'_>>, UpstreamError> {
    let texts = response.parse::<Items<&RawValue>>()?.items;
    let entries = texts.into_iter().map(|text| match serde_json::from_str(text.get()) {
        Ok(Object(item)) => Entry::Parsed(WholeItem { item, text }),
        Err(error) => Entry::Unparsed(text, error.to_string()),
    });
    Ok(entries.collect::<Vec<_>>().into())
}

/// Returns the items in the provider's response.
///
/// # Errors
/// If the response is invalid.
pub fn parse(response: &UpstreamResponse) -> Result<Rows<Item<'_>>, UpstreamError> {
    match response.parse::<Items<Object<Item<'_>>>>() {
        Ok(all) => Ok(all.items.into()),
        Err(_) => Ok(response.parse::<Items<Entry<'_, Item<'_>>>>()?.items.into()),
    }
}
