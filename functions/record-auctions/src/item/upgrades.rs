//! Whether players have improved an item.
//!
//! The lists are of the attributes that say nothing about upgrades. Every other attribute is an upgrade, so
//! an upgrade that the game adds later counts at once. Attributes of items that cannot be sold are not
//! listed.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::attributes::Stack;
use super::nbt::Value;

/// Ids, dates, owners, and where the item is from.
const ORIGIN: &[&str] = &[
    "uuid",
    "id",
    "timestamp",
    "originTag",
    "bossId",
    "spawnedFor",
    "boss_tier",
    "rift_transferred",
    "donated_museum",
    "dungeon_skill_req",
    "shop_dungeon_floor_completion_required",
    "dungeon_paper_id",
    "date",
    "year",
    "yearObtained",
    "century_year",
    "raffle_year",
    "raffle_win",
    "tickets",
    "winning_team",
    "recipient_team",
    "edition",
    "recipient_id",
    "recipient_name",
    "sender_name",
    "event",
    "cake_owner",
    "captured_player",
    "captured_date",
    "initiator_player",
    // The auction of the game in which the item was won.
    "auction",
    "bid",
    "price",
    "player",
    "winning_bid",
];

/// The kind of the item, and its quality at creation.
const KIND: &[&str] = &[
    "baseStatBoostPercentage",
    "item_tier",
    // Items from dungeons have this, and items that a player has prepared for dungeons.
    "dungeon_item",
    "attributes",
    // The color at creation. A dye is in `dye_item`.
    "color",
    "is_shiny",
    "bass_weight",
    "model",
    "new_years_cake",
    "party_hat_color",
    "party_hat_emoji",
    "party_hat_year",
    "dye_donated",
    "generator_tier",
    "post_card_minion_tier",
    "post_card_minion_type",
];

/// Counters that grow with use.
const COUNTERS: &[&str] = &[
    "absorb_logs_chopped",
    "anvil_uses",
    "blaze_consumer",
    "blocks_walked",
    "blocksBroken",
    "blood_god_kills",
    "bookshelf_loops",
    "bottle_of_jyrre_last_update",
    "bottle_of_jyrre_seconds",
    "bow_kills",
    "champion_combat_xp",
    "chimera_found",
    "coins_gained",
    "collected_coins",
    "compact_blocks",
    "eman_kills",
    "EXE",
    "expertise_kills",
    "farmed_cultivating",
    "fishes_caught",
    "ghast_blaster",
    "gilded_gifted_coins",
    "glowing",
    "handle_loops",
    "handles_found",
    "health",
    "hecatomb_s_runs",
    "historic_dungeon_score",
    "intelligence_earned",
    "lastForceEvolvedTime",
    "lava_creatures_killed",
    "leaderPosition",
    "leaderVotes",
    "levelable_exp",
    "levelable_lvl",
    "levels_found",
    "lm_evo",
    "logs_cut",
    "magma_cube_absorber",
    "magmaCubesKilled",
    "maxed_stats",
    "mined_crops",
    "names_found",
    "necromancer_souls",
    "pandora-rarity",
    "pelts_earned",
    "pet_exp",
    "players_clicked",
    "promising_pickaxe_breaks",
    "puzzles_solved",
    "raider_kills",
    "resources_generated",
    "rift_discrite_seconds",
    "runic_kills",
    "seconds_held",
    "skeletorKills",
    "spider_kills",
    "sword_kills",
    "total_generations",
    "toxophilite_combat_xp",
    "trainingWeightsHeldTime",
    "trapsDefused",
    "ultimateSoulEaterData",
    "WAI",
    "yogsKilled",
    "ZEE",
    "zombie_kills",
    "zombiesKilled",
];

/// Fuel, durability and settings.
const STATE: &[&str] = &[
    "ammo",
    "backpack_color",
    "blazetekk_channel",
    "charges_used",
    "drill_fuel",
    "fungi_cutter_mode",
    "gemstone_gauntlet_meter",
    "item_durability",
    "mousemat_pitch",
    "mousemat_yaw",
    "PERSONAL_DELETOR_ACTIVE",
    "pickonimbus_durability",
    "radius",
    "ranchers_speed",
    "recall_potion_biome",
    "recall_potion_location",
    "rep_particles",
    "rep_radius",
    "repelling_color",
    "soul_durability",
    "spray",
    "stored_drill_fuel",
    "td_attune_mode",
    "tune",
    "tuning_fork_tuning",
    "wishing_compass_uses",
];

const CONTENT: &[&str] = &[
    "basket_of_seeds_data",
    "builder's_ruler_data",
    "builder's_wand_data",
    "nether_wart_pouch_data",
    "netherwart_pouch_data",
    "new_year_cake_bag_data",
    "small_backpack_data",
    "medium_backpack_data",
    "large_backpack_data",
    "greater_backpack_data",
    "jumbo_backpack_data",
];

/// The prefixes of the numbered slots of compactors and deletors.
const SLOTS: &[&str] = &["personal_compact", "personal_deletor_"];

/// By id, the attributes that identify the item itself. On other items, they are upgrades.
const IDENTITIES: [(&str, &[&str]); 5] = [
    ("ENCHANTED_BOOK", &["enchantments"]),
    ("RUNE", &["runes"]),
    ("UNIQUE_RUNE", &["runes"]),
    ("POTION", POTION),
    // Other items are charged with these bottles.
    ("THUNDER_IN_A_BOTTLE_EMPTY", &["thunder_charge"]),
];

const POTION: &[&str] = &[
    "effects",
    "enhanced",
    "extended",
    "potion",
    "potion_level",
    "potion_name",
    "potion_type",
    "splash",
    "dungeon_potion",
    "last_potion_ingredient",
    "should_give_alchemy_exp",
];

/// The fields of `petInfo` that say nothing about upgrades.
const PET: &[&str] = &[
    "type",
    "tier",
    "exp",
    "active",
    "hideInfo",
    "hideRightClick",
    "noMove",
    "candyUsed",
    "petSoulbound",
    "uuid",
    "uniqueId",
    "heldItemUuid",
    "extraData",
];

/// Returns whether players have improved an item.
pub(super) fn is_upgraded(item: &Stack<'_>) -> bool {
    let is_upgrade = |(name, value): (&[u8], Value<'_>)| match name {
        b"petInfo" => is_upgraded_pet(value),
        name => value.is_set() && !(is_neutral(name) || is_identity(item.id, name)),
    };
    item.attributes.entries().is_some_and(|mut entries| entries.any(is_upgrade))
}

fn is_neutral(name: &[u8]) -> bool {
    let is_slot = || SLOTS.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
    [ORIGIN, KIND, COUNTERS, STATE, CONTENT].into_iter().any(|names| contains(names, name)) || is_slot()
}

fn is_identity(id: &str, name: &[u8]) -> bool {
    IDENTITIES.iter().any(|(other, names)| *other == id && contains(names, name))
}

fn contains(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|other| other.as_bytes() == name)
}

fn is_upgraded_pet(pet: Value<'_>) -> bool {
    let fields = pet.text_bytes().and_then(|pet| serde_json::from_slice::<BTreeMap<&str, Json>>(pet).ok());
    match fields {
        Some(fields) => fields.iter().any(|(name, value)| is_set(value) && !PET.contains(name)),
        None => pet.is_set(),
    }
}

/// The same rule as `Value::is_set`, for JSON.
fn is_set(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(bit) => *bit,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(elements) => !elements.is_empty(),
        Json::Object(entries) => entries.values().any(is_set),
    }
}
