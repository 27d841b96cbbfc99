//! The properties of an item by which clients filter auctions.
//!
//! A property that is missing, or has another form than expected, does not apply to the item.

use std::collections::BTreeMap;

use files::listings::Properties;
use serde::Deserialize;
use serde_json::value::RawValue;
use tables::auctions::PetLevel;

use super::attributes::Stack;
use super::nbt::Value;
use super::upgrades::is_upgraded;

/// The longest name. The longest known one has 36 characters.
const LONGEST: usize = 64;

/// The fields of `petInfo` that change the price of a pet. Other types than texts do not matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pet<'a> {
    #[serde(borrow, rename = "heldItem")]
    held_item: Option<&'a RawValue>,
    #[serde(borrow)]
    skin: Option<&'a RawValue>,
}

pub(super) fn properties(stack: &Stack<'_>) -> Properties {
    let item = stack.attributes;
    let number = |name: &str| item.get(name).and_then(Value::integer).unwrap_or(0);
    let pet = item.get("petInfo").and_then(Value::text_bytes);
    let pet: Pet<'_> = pet.and_then(|pet| serde_json::from_slice(pet).ok()).unwrap_or_default();
    // Old items have the second name.
    let stars = number("upgrade_level").max(number("dungeon_item_level"));
    let enchantments = item.get("enchantments").and_then(Value::entries).into_iter().flatten();
    let enchantments: BTreeMap<_, _> = enchantments.filter_map(enchantment).collect();
    Properties {
        clean: !is_upgraded(stack),
        level: stack.level.and_then(PetLevel::new),
        stars: u8::try_from(stars).ok().filter(|stars| *stars > 0),
        recombobulated: number("rarity_upgrades") > 0,
        reforge: item.get("modifier").and_then(Value::text).and_then(name).map(lower_case),
        enchantments: Some(enchantments).filter(|enchantments| !enchantments.is_empty()),
        held_item: of_pet(pet.held_item).map(Box::from),
        skin: item
            .get("skin")
            .and_then(Value::text)
            .and_then(name)
            .or_else(|| of_pet(pet.skin))
            .map(Box::from),
    }
}

fn of_pet(text: Option<&RawValue>) -> Option<&str> {
    name(serde_json::from_str(text?.get()).ok()?)
}

fn enchantment((text, level): (&[u8], Value<'_>)) -> Option<(Box<str>, u8)> {
    let level = level.integer().and_then(|level| u8::try_from(level).ok()).filter(|level| *level > 0)?;
    Some((lower_case(name(str::from_utf8(text).ok()?)?), level))
}

fn name(text: &str) -> Option<&str> {
    let is_name = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then_some(text)
}

/// The provider writes few names in capital letters, such as `PROSECUTE`.
fn lower_case(name: &str) -> Box<str> {
    name.to_ascii_lowercase().into()
}
