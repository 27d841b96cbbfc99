//! The item of an auction, and whether players have improved it.

use serde::Deserialize;
use serde_json::Value as Json;

use super::nbt::Value;
use super::reason::Reason;

/// What players add to an item, in the provider's names. Enchantments and the skin in `petInfo` have rules of their own.
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

/// An item, and how many of it.
#[derive(Debug)]
pub(super) struct Stack<'a> {
    pub(super) count: i64,
    /// The provider's id.
    pub(super) id: &'a str,
    /// The name in the game.
    pub(super) name: Option<Value<'a>>,
    /// Everything else that the provider knows of it.
    pub(super) attributes: Value<'a>,
}

impl Stack<'_> {
    /// Whether nothing has been added to the item. The enchantments of a book are what it is.
    pub(super) fn is_clean(&self) -> bool {
        let is_set = |name: &&str| self.attributes.get(name).is_some_and(Value::is_set);
        let has_enchantments = self.id != "ENCHANTED_BOOK" && is_set(&"enchantments");
        let pet = self.attributes.get("petInfo").and_then(Value::text_bytes);
        let pet = pet.and_then(|pet| serde_json::from_slice::<PetSkin>(pet).ok());
        let has_skin = pet.is_some_and(|pet| is_set_in_json(&pet.skin));
        !(has_enchantments || has_skin || ADDED.iter().any(is_set))
    }
}

/// The skin in `petInfo`.
#[derive(Debug, Deserialize)]
struct PetSkin {
    #[serde(default)]
    skin: Json,
}

/// `Value::is_set` for JSON.
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

/// Returns the only item of these bytes.
pub(super) fn read(nbt: &[u8]) -> Result<Stack<'_>, Reason> {
    let root = Value::root(nbt).ok_or(Reason::Nbt)?;
    stack(root).ok_or(Reason::NotAnItem)
}

/// Returns the item of the list `i`, which has one.
fn stack(root: Value<'_>) -> Option<Stack<'_>> {
    let item = root.get("i")?.only_element()?;
    let tag = item.get("tag")?;
    let attributes = tag.get("ExtraAttributes")?;
    let name = tag.get("display").and_then(|display| display.get("Name"));
    Some(Stack { count: item.get("Count")?.integer()?, id: attributes.get("id")?.text()?, name, attributes })
}
