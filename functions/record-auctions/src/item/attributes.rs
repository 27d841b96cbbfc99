//! The fields of an item that decide its id. All others, such as its lore, are skipped.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::nesting::is_sound;
use super::reason::Reason;

/// The list `i`, which has one item.
#[derive(Debug, Deserialize)]
struct Root<'a> {
    #[serde(borrow)]
    i: Vec<Stack<'a>>,
}

/// An item, and how many of it.
#[derive(Debug, Deserialize)]
pub(super) struct Stack<'a> {
    #[serde(rename = "Count")]
    pub(super) count: i64,
    #[serde(borrow)]
    pub(super) tag: Tag<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Tag<'a> {
    #[serde(borrow, default)]
    pub(super) display: Display<'a>,
    #[serde(borrow, rename = "ExtraAttributes")]
    pub(super) attributes: ExtraAttributes<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Display<'a> {
    /// Not text, because characters beyond U+FFFF are surrogate pairs in it.
    pub(super) name: &'a [u8],
}

/// The attributes in the provider's names.
#[derive(Debug, Deserialize)]
pub(super) struct ExtraAttributes<'a> {
    pub(super) id: &'a str,
    #[serde(rename = "petInfo")]
    pub(super) pet_info: Option<&'a [u8]>,
    #[serde(borrow)]
    pub(super) runes: Option<Levels<'a>>,
    #[serde(borrow)]
    pub(super) enchantments: Option<Levels<'a>>,
    #[serde(borrow)]
    pub(super) attributes: Option<Levels<'a>>,
    pub(super) potion: Option<&'a str>,
    pub(super) potion_name: Option<&'a str>,
    pub(super) potion_type: Option<&'a str>,
    pub(super) potion_level: Option<u32>,
    pub(super) party_hat_color: Option<&'a str>,
    pub(super) party_hat_emoji: Option<&'a str>,
    pub(super) party_hat_year: Option<u32>,
    pub(super) new_years_cake: Option<u32>,
    pub(super) model: Option<&'a str>,
    #[serde(rename = "baseStatBoostPercentage")]
    pub(super) stat_boost_percent: Option<i64>,
    /// The reforge.
    modifier: Option<IgnoredAny>,
    /// The stars, under their new and their old name.
    upgrade_level: Option<IgnoredAny>,
    dungeon_item_level: Option<IgnoredAny>,
    /// Recombobulators.
    rarity_upgrades: Option<IgnoredAny>,
    hot_potato_count: Option<IgnoredAny>,
    gems: Option<IgnoredAny>,
    skin: Option<IgnoredAny>,
}

impl ExtraAttributes<'_> {
    /// Whether nothing has been added to the item. The enchantments of a book are what it is.
    pub(super) fn is_clean(&self) -> bool {
        let added = [
            &self.modifier,
            &self.upgrade_level,
            &self.dungeon_item_level,
            &self.rarity_upgrades,
            &self.hot_potato_count,
            &self.gems,
            &self.skin,
        ];
        let has_books = self.enchantments.is_some() && self.id != "ENCHANTED_BOOK";
        let pet = self.pet_info.and_then(|pet| serde_json::from_slice::<PetSkin>(pet).ok());
        let has_skin = pet.is_some_and(|pet| pet.skin.is_some());
        !(has_books || has_skin || added.iter().any(|added| added.is_some()))
    }
}

/// The skin in `petInfo`.
#[derive(Debug, Deserialize)]
struct PetSkin {
    skin: Option<IgnoredAny>,
}

/// Levels by name, as of enchantments.
pub(super) type Levels<'a> = BTreeMap<&'a str, i64>;

/// Reads the only item of these bytes.
pub(super) fn read(nbt: &[u8]) -> Result<Stack<'_>, Reason> {
    if !is_sound(nbt) {
        return Err(Reason::Nbt);
    }
    let root: Root<'_> = fastnbt::from_bytes(nbt).map_err(|_| Reason::NotAnItem)?;
    let [stack] = <[_; 1]>::try_from(root.i).map_err(|_| Reason::NotAnItem)?;
    Ok(stack)
}
