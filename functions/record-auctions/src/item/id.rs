//! The rules that make ids of attributes.
//!
//! The names are those of the `NotEnoughUpdates` repository, which most mods use, with the variants that price lists add to
//! them. Gear with attributes (`ID+ATTRIBUTE;level`) is obsolete since the middle of 2025, and has only its plain id.

use common::request::auction_item_id::AuctionItemId;
use serde::Deserialize;

use super::attributes::{ExtraAttributes, Levels, Tag};
use super::reason::Reason;

/// The tiers of pets; the id has the position.
const TIERS: [&str; 6] = ["COMMON", "UNCOMMON", "RARE", "EPIC", "LEGENDARY", "MYTHIC"];

/// The part of `petInfo` that decides. A pet that is boosted by an item keeps its tier here.
#[derive(Debug, Deserialize)]
struct Pet<'a> {
    r#type: &'a str,
    tier: &'a str,
}

/// Returns the id of an item, and the second id under which it also counts.
pub(super) fn ids(tag: &Tag<'_>) -> Result<(AuctionItemId, Option<AuctionItemId>), Reason> {
    let (id, also) = names(tag)?;
    let legal = |id: String| id.to_ascii_uppercase().parse::<AuctionItemId>().map_err(|_| Reason::Id);
    Ok((legal(id)?, also.map(legal).transpose()?))
}

fn names(tag: &Tag<'_>) -> Result<(String, Option<String>), Reason> {
    let item = &tag.attributes;
    let id = match item.id {
        "PET" => return pet(item, tag.display.name).ok_or(Reason::Undecided),
        "RUNE" | "UNIQUE_RUNE" => {
            only(item.runes.as_ref()).map(|(name, level)| format!("{name}_RUNE;{level}"))
        }
        "ENCHANTED_BOOK" => {
            let (name, level) = only(item.enchantments.as_ref()).ok_or(Reason::Book)?;
            Some(format!("{name};{level}"))
        }
        "ATTRIBUTE_SHARD" => {
            only(item.attributes.as_ref()).map(|(name, level)| format!("ATTRIBUTE_SHARD_{name};{level}"))
        }
        "POTION" => potion(item),
        "PARTY_HAT_CRAB" | "PARTY_HAT_CRAB_ANIMATED" => item.party_hat_color.map(|color| {
            let suffix = if item.party_hat_year == Some(2022) { "_ANIMATED" } else { "" };
            format!("PARTY_HAT_CRAB_{color}{suffix}")
        }),
        "PARTY_HAT_SLOTH" => item.party_hat_emoji.map(|emoji| format!("PARTY_HAT_SLOTH_{emoji}")),
        "ABICASE" => item.model.map(|model| format!("ABICASE_{model}")),
        "NEW_YEAR_CAKE" => {
            return Ok((item.id.to_owned(), item.new_years_cake.map(|year| format!("{}+{year}", item.id))));
        }
        // The plain id is for mods that do not know the colors of this hat.
        hat if hat.starts_with("BALLOON_HAT_20") || hat.starts_with("CAKE_HAT_20") => {
            let color = item.party_hat_color.ok_or(Reason::Undecided)?;
            return Ok((format!("{hat}_{color}"), Some(hat.to_owned())));
        }
        other => {
            // Variants of Minecraft's own items, such as `LOG:2`.
            let id = other.replace(':', "-");
            // 50 % is the most that a dungeon gives.
            let also = (item.stat_boost_percent == Some(50)).then(|| format!("{id}+PERFECT"));
            return Ok((id, also));
        }
    };
    Ok((id.ok_or(Reason::Undecided)?, None))
}

/// The plain id of a pet, and that of its full hundreds of levels.
fn pet(item: &ExtraAttributes<'_>, name: &[u8]) -> Option<(String, Option<String>)> {
    let pet: Pet<'_> = serde_json::from_slice(item.pet_info?).ok()?;
    let tier = TIERS.iter().position(|tier| *tier == pet.tier)?;
    let id = format!("{};{tier}", pet.r#type);
    let hundreds = level(name).unwrap_or(0) / 100 * 100;
    let also = (hundreds > 0).then(|| format!("{id}+{hundreds}"));
    Some((id, also))
}

/// The level in the name of a pet, such as `§7[Lvl 87] §6Sheep`. The experience does not decide it: the steps depend on the kind
/// of pet and on a boost of its tier, and new kinds have new steps.
fn level(name: &[u8]) -> Option<u32> {
    let name = String::from_utf8_lossy(name);
    name.split_once("[Lvl ")?.1.split_once(']')?.0.parse().ok()
}

fn potion(item: &ExtraAttributes<'_>) -> Option<String> {
    match (item.potion_name.or(item.potion), item.potion_type) {
        (Some(name), _) => Some(format!("POTION_{};{}", name.replace(' ', "_"), item.potion_level?)),
        (None, Some(kind)) => Some(format!("POTION_{kind}")),
        (None, None) => Some("WATER_BOTTLE".to_owned()),
    }
}

/// The name and level, if there is one and only one.
fn only<'a>(levels: Option<&Levels<'a>>) -> Option<(&'a str, u32)> {
    let mut levels = levels?.iter();
    let (name, level) = levels.next()?;
    let level = u32::try_from(*level).ok()?;
    levels.next().is_none().then_some((*name, level))
}
