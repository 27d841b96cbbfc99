//! The items of the game, which change with its updates: `/v2/resources/skyblock/items`.
//!
//! An item has many fields. Most fields are optional, and their shapes change. Only `id`, `name` and
//! `material` are always present, so these are required. `tier` is absent for one item in five.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::UpstreamError;
use super::response::{Success, UpstreamResponse};
use super::rows::{Entry, Row, Rows};
use crate::json::{Members, Object, ObjectText, StringText};

pub const PATH: &str = "/v2/resources/skyblock/items";

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

/// An item as the provider sends it, but without the signature of its skin.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct WholeItem<'a> {
    #[serde(skip)]
    item: Item<'a>,
    text: Cow<'a, RawValue>,
}

/// An item whose skin is an object. Until 2024, skins were strings.
#[derive(Deserialize)]
struct WithSkin<'a> {
    #[serde(borrow)]
    skin: ObjectText<'a>,
}

/// Returns the text of an item without the signature of its skin, or `None` if there is no signature. Only
/// the game's client needs signatures, which are 40 % of the provider's response.
fn without_signature(item: &RawValue) -> Option<Box<RawValue>> {
    let Object(WithSkin { skin }) = serde_json::from_str(item.get()).ok()?;
    let Members(members) = serde_json::from_str::<Members<StringText<'_>, &RawValue>>(skin.get()).ok()?;
    let unsigned = members.iter().filter(|(name, _)| name.decoded() != "signature");
    let unsigned: Vec<_> = unsigned.map(|(name, value)| format!("{}:{}", name.get(), value.get())).collect();
    if unsigned.len() == members.len() {
        return None;
    }
    RawValue::from_string(item.get().replace(skin.get(), &format!("{{{}}}", unsigned.join(",")))).ok()
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

/// Returns the items in the provider's response with all of their fields, but without the signatures of
/// skins.
pub fn parse_whole(response: &UpstreamResponse) -> Result<Rows<WholeItem<'_>>, UpstreamError> {
    let texts = response.parse::<Items<&RawValue>>()?.items;
    let entries = texts.into_iter().map(|text| match serde_json::from_str(text.get()) {
        Ok(Object(item)) => {
            let text = without_signature(text).map_or(Cow::Borrowed(text), Cow::Owned);
            Entry::Parsed(WholeItem { item, text })
        }
        Err(error) => Entry::Unparsed(text, error.to_string()),
    });
    Ok(entries.collect::<Vec<_>>().into())
}

pub fn parse(response: &UpstreamResponse) -> Result<Rows<Item<'_>>, UpstreamError> {
    match response.parse::<Items<Object<Item<'_>>>>() {
        Ok(all) => Ok(all.items.into()),
        Err(_) => Ok(response.parse::<Items<Entry<'_, Item<'_>>>>()?.items.into()),
    }
}
