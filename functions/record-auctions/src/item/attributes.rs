//! The item of an auction, and whether players have improved it.

use serde::Deserialize;
use serde_json::Value as Json;

use super::nbt::Value;
use super::reason::Reason;

/// The attributes of players' improvements, by the provider's names. Enchantments and the skin in `petInfo` have separate rules.
const ADDED: [&str; 17] = [
    // The reforge.
    "modifier",
    // The stars, under their new and their old name.
    "upgrade_level",
    "dungeon_item_level",
    // Recombobulators.
    "rarity_upgrades",
    "gems",
    "skin",
    // Books and scrolls.
    "hot_potato_count",
    "art_of_war_count",
    "artOfPeaceApplied",
    "farming_for_dummies_count",
    "bookworm_books",
    "jalapeno_count",
    "polarvoid",
    "stats_book",
    "wet_book_count",
    "ability_scroll",
    "power_ability_scroll",
];

/// A stack of an item.
#[derive(Debug)]
pub(super) struct Stack<'a> {
    pub(super) count: i64,
    /// The provider's id.
    pub(super) id: &'a str,
    /// The level of a pet. `None` for other items and without a level in the name.
    pub(super) level: Option<u32>,
    /// The provider's `ExtraAttributes`, including the id.
    pub(super) attributes: Value<'a>,
}

impl Stack<'_> {
    /// Whether players have added nothing to the item. The enchantments of a book are not an addition.
    pub(super) fn is_clean(&self) -> bool {
        let is_set = |name: &&str| self.attributes.get(name).is_some_and(Value::is_set);
        let has_enchantments = self.id != "ENCHANTED_BOOK" && is_set(&"enchantments");
        let pet = self.attributes.get("petInfo").and_then(Value::text_bytes);
        let pet = pet.and_then(|pet| serde_json::from_slice::<PetSkin>(pet).ok());
        let has_skin = pet.is_some_and(|pet| is_set_in_json(&pet.skin));
        !(has_enchantments || has_skin || ADDED.iter().any(is_set))
    }
}

#[derive(Debug, Deserialize)]
struct PetSkin {
    #[serde(default)]
    skin: Json,
}

/// The same rule as `Value::is_set`, for JSON.
fn is_set_in_json(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(bit) => *bit,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(elements) => !elements.is_empty(),
        Json::Object(entries) => entries.values().any(is_set_in_json),
    }
}

/// Returns the item in these bytes, which must contain exactly one item.
pub(super) fn read(nbt: &[u8]) -> Result<Stack<'_>, Reason> {
    let root = Value::root(nbt).ok_or(Reason::Nbt)?;
    stack(root).ok_or(Reason::NotAnItem)
}

/// Returns the only item of the list `i`.
fn stack(root: Value<'_>) -> Option<Stack<'_>> {
    let item = root.get("i")?.only_element()?;
    let tag = item.get("tag")?;
    let attributes = tag.get("ExtraAttributes")?;
    let id = attributes.get("id")?.text()?;
    let level = if id == "PET" { level(tag) } else { None };
    Some(Stack { count: item.get("Count")?.integer()?, id, level, attributes })
}

/// Returns the level in the name of a pet, such as `§7[Lvl 87] §6Sheep`. The level cannot be computed from the experience: the steps depend
/// on the kind of the pet and on a tier boost, and new kinds of pets have new steps.
fn level(tag: Value<'_>) -> Option<u32> {
    let name = String::from_utf8_lossy(tag.get("display")?.get("Name")?.text_bytes()?);
    name.split_once("[Lvl ")?.1.split_once(']')?.0.parse().ok()
}
