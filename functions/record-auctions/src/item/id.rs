//! The rules that derive the id of an item from its attributes.
//!
//! Ids are the names of the `NotEnoughUpdates` repository, which most mods use, and the variants that price
//! lists add. Ids of gear with attributes (`ID+ATTRIBUTE;level`) are obsolete since the middle of 2025; such
//! gear has only its plain id.
//!
//! An attribute is read only if the id depends on it. All other attributes may have any type, because the
//! game changes types now and then.

use common::request::auction_item_id::AuctionItemId;
use serde::Deserialize;

use super::attributes::Stack;
use super::nbt::Value;
use super::reason::Reason;

/// The tiers of pets. An id contains the position of the tier in this list.
const TIERS: [&str; 6] = ["COMMON", "UNCOMMON", "RARE", "EPIC", "LEGENDARY", "MYTHIC"];

/// The fields of `petInfo` that the id depends on. `tier` does not include the tier boost that an item can
/// give a pet.
#[derive(Debug, Deserialize)]
struct Pet<'a> {
    r#type: &'a str,
    tier: &'a str,
}

/// Returns the id of an item, and the second id under which it counts, if there is one.
pub(super) fn ids(stack: &Stack<'_>) -> Result<(AuctionItemId, Option<AuctionItemId>), Reason> {
    let (id, also) = names(stack)?;
    let legal = |id: String| id.to_ascii_uppercase().parse::<AuctionItemId>().map_err(|_| Reason::Id);
    Ok((legal(id)?, also.map(legal).transpose()?))
}

fn names(stack: &Stack<'_>) -> Result<(String, Option<String>), Reason> {
    let item = Attributes(stack.attributes);
    let id = match stack.id {
        "PET" => return pet(item, stack.level),
        "RUNE" | "UNIQUE_RUNE" => item.only("runes")?.map(|(name, level)| format!("{name}_RUNE;{level}")),
        "ENCHANTED_BOOK" => {
            let (name, level) = item.only("enchantments")?.ok_or(Reason::Book)?;
            Some(format!("{name};{level}"))
        }
        "ATTRIBUTE_SHARD" => {
            item.only("attributes")?.map(|(name, level)| format!("ATTRIBUTE_SHARD_{name};{level}"))
        }
        "POTION" => potion(item)?,
        "PARTY_HAT_CRAB" | "PARTY_HAT_CRAB_ANIMATED" => {
            let suffix = if item.number("party_hat_year")? == Some(2022) { "_ANIMATED" } else { "" };
            item.text("party_hat_color")?.map(|color| format!("PARTY_HAT_CRAB_{color}{suffix}"))
        }
        "PARTY_HAT_SLOTH" => item.text("party_hat_emoji")?.map(|emoji| format!("PARTY_HAT_SLOTH_{emoji}")),
        "ABICASE" => item.text("model")?.map(|model| format!("ABICASE_{model}")),
        cake @ "NEW_YEAR_CAKE" => {
            let year = item.number("new_years_cake").ok().flatten();
            return Ok((cake.to_owned(), year.map(|year| format!("{cake}+{year}"))));
        }
        // The second id is for mods that do not know the colors of this hat.
        hat if hat.starts_with("BALLOON_HAT_20") || hat.starts_with("CAKE_HAT_20") => {
            let color = item.text("party_hat_color")?.ok_or(Reason::Undecided)?;
            return Ok((format!("{hat}_{color}"), Some(hat.to_owned())));
        }
        other => {
            // Minecraft's own items have variants, such as `LOG:2`.
            let id = other.replace(':', "-");
            // 50 % is the highest boost of items from dungeons.
            let is_perfect = item.number("baseStatBoostPercentage") == Ok(Some(50));
            let also = is_perfect.then(|| format!("{id}+PERFECT"));
            return Ok((id, also));
        }
    };
    Ok((id.ok_or(Reason::Undecided)?, None))
}

/// Returns a pet's plain id and, from level 100, a second id with the level rounded down to hundreds.
fn pet(item: Attributes<'_>, level: Option<u32>) -> Result<(String, Option<String>), Reason> {
    let pet = item.0.get("petInfo").ok_or(Reason::Undecided)?.text_bytes().ok_or(Reason::NotAnItem)?;
    let pet: Pet<'_> = serde_json::from_slice(pet).map_err(|_| Reason::Undecided)?;
    let tier = TIERS.iter().position(|tier| *tier == pet.tier).ok_or(Reason::Undecided)?;
    let id = format!("{};{tier}", pet.r#type);
    let hundreds = level.unwrap_or(0) / 100 * 100;
    let also = (hundreds > 0).then(|| format!("{id}+{hundreds}"));
    Ok((id, also))
}

fn potion(item: Attributes<'_>) -> Result<Option<String>, Reason> {
    let name = match item.text("potion_name")? {
        Some(name) => Some(name),
        None => item.text("potion")?,
    };
    if let Some(name) = name {
        let level = item.number("potion_level")?;
        return Ok(level.map(|level| format!("POTION_{};{level}", name.replace(' ', "_"))));
    }
    let kind = item.text("potion_type")?;
    Ok(Some(kind.map_or_else(|| "WATER_BOTTLE".to_owned(), |kind| format!("POTION_{kind}"))))
}

/// The attributes of an item. Reading an attribute fails if the attribute has another type than expected.
#[derive(Clone, Copy)]
struct Attributes<'a>(Value<'a>);

impl<'a> Attributes<'a> {
    fn text(self, name: &str) -> Result<Option<&'a str>, Reason> {
        self.0.get(name).map(|value| value.text().ok_or(Reason::NotAnItem)).transpose()
    }

    fn number(self, name: &str) -> Result<Option<u32>, Reason> {
        let number = |value: Value<'_>| value.integer().and_then(|number| number.try_into().ok());
        self.0.get(name).map(|value| number(value).ok_or(Reason::NotAnItem)).transpose()
    }

    /// Returns the name and level in the compound `name` if it has exactly one entry.
    fn only(self, name: &str) -> Result<Option<(&'a str, u32)>, Reason> {
        let Some(levels) = self.0.get(name) else { return Ok(None) };
        let mut levels = levels.entries().ok_or(Reason::NotAnItem)?;
        let (Some((name, level)), None) = (levels.next(), levels.next()) else { return Ok(None) };
        let level = level.integer().ok_or(Reason::NotAnItem)?;
        let name = str::from_utf8(name).map_err(|_| Reason::NotAnItem)?;
        Ok(level.try_into().ok().map(|level| (name, level)))
    }
}
