//! `item_bytes` give the id and the count of an item: examples of every kind, real items, and the bounds.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fastnbt::{Value as Nbt, nbt};
use record_auctions::item::{Buffers, DEEPEST, Item, LARGEST_NBT, LONGEST_TEXT, Reason, read};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tables::auctions::PetLevel;

const LIST: u8 = 9;
const COMPOUND: u8 = 10;
const END: u8 = 0;

/// Per line: the attributes and the name of an item, and its ids or the reason why it has no id.
const EXAMPLES: &str = r#"
{"id":"HYPERION","timestamp":"6/1/21 9:05 PM"} = HYPERION
{"id":"HYPERION","timestamp":1577,"enchantments":{"a":1,"b":-1},"attributes":{"lifeline":1}} = HYPERION
{"id":"HYPERION","runes":[1],"enchantments":{"a":"5"},"model":1,"potion_level":-1,"petInfo":{},"attributes":"a","gems":7} = HYPERION
{"id":"HYPERION","baseStatBoostPercentage":"50","new_years_cake":"a","party_hat_year":{},"potion":[],"name":5} = HYPERION
{"id":"LEATHER_BOOTS:58"} = LEATHER_BOOTS-58
{"id":"PET_SKIN_RAT_RAT-STRONAUT"} = PET_SKIN_RAT_RAT-STRONAUT
{"id":"GLACITE_BOOTS","baseStatBoostPercentage":49} = GLACITE_BOOTS
{"id":"GLACITE_BOOTS","baseStatBoostPercentage":50} = GLACITE_BOOTS GLACITE_BOOTS+PERFECT
{"id":"PET","petInfo":"{\"exp\":1.0E7,\"type\":\"SHEEP\",\"tier\":\"EPIC\"}","name":"§7[Lvl 99] §5Sheep"} = SHEEP;3
{"id":"PET","petInfo":"{\"type\":\"SHEEP\",\"tier\":\"MYTHIC\",\"a\":{}}","name":"§7[Lvl 100] §dSheep"} = SHEEP;5 SHEEP;5+100
{"id":"PET","petInfo":"{\"type\":\"JADE_DRAGON\",\"tier\":\"RARE\"}","name":"[Lvl 199] a"} = JADE_DRAGON;2 JADE_DRAGON;2+100
{"id":"PET","petInfo":"{\"type\":\"ROSE_DRAGON\",\"tier\":\"LEGENDARY\"}","name":"[Lvl 200] 🦴"} = ROSE_DRAGON;4 ROSE_DRAGON;4+200
{"id":"PET","petInfo":"{\"type\":\"BEE\",\"tier\":\"RARE\"}","name":"[Lvl 399] a"} = BEE;2 BEE;2+300
{"id":"PET","petInfo":"{\"type\":\"BEE\",\"tier\":\"COMMON\"}","name":"Bee"} = BEE;0
{"id":"PET","petInfo":"{\"type\":\"BEE\",\"tier\":\"RARE\",\"exp\":\"a\"}","runes":1,"skin":{}} = BEE;2
{"id":"PET","petInfo":"{\"type\":\"BEE\",\"tier\":\"DIVINE\"}"} = Undecided
{"id":"PET","petInfo":"{\"type\":\"A B\",\"tier\":\"RARE\"}"} = Id
{"id":"PET","petInfo":{"type":"BEE"}} = NotAnItem
{"id":"RUNE","runes":{"ICE":1}} = ICE_RUNE;1
{"id":"UNIQUE_RUNE","runes":{"GOLDEN_CARPET":3}} = GOLDEN_CARPET_RUNE;3
{"id":"RUNE","runes":{}} = Undecided
{"id":"RUNE","runes":{"ICE":"1"}} = NotAnItem
{"id":"RUNE","runes":["ICE"]} = NotAnItem
{"id":"RUNE","runes":{"ICE":1},"enchantments":[],"potion_level":"a"} = ICE_RUNE;1
{"id":"ENCHANTED_BOOK","enchantments":{"ultimate_reiterate":3}} = ULTIMATE_REITERATE;3
{"id":"ENCHANTED_BOOK","enchantments":{"growth":5,"protection":5}} = Book
{"id":"ENCHANTED_BOOK"} = Book
{"id":"ATTRIBUTE_SHARD","attributes":{"trophy_hunter":2}} = ATTRIBUTE_SHARD_TROPHY_HUNTER;2
{"id":"ATTRIBUTE_SHARD"} = Undecided
{"id":"POTION","potion":"speed","potion_type":"POTION","potion_level":8,"splash":1} = POTION_SPEED;8
{"id":"POTION","potion":"ice","potion_name":"Wisp Ice","potion_level":1} = POTION_WISP_ICE;1
{"id":"POTION","potion":5,"potion_type":5,"potion_name":"Ice","potion_level":1} = POTION_ICE;1
{"id":"POTION","potion":5,"potion_level":1} = NotAnItem
{"id":"POTION","potion":"ice","potion_level":"1"} = NotAnItem
{"id":"POTION","potion_type":"awkward"} = POTION_AWKWARD
{"id":"POTION"} = WATER_BOTTLE
{"id":"POTION","potion":"speed"} = Undecided
{"id":"PARTY_HAT_CRAB","party_hat_color":"pink","party_hat_year":2020} = PARTY_HAT_CRAB_PINK
{"id":"PARTY_HAT_CRAB_ANIMATED","party_hat_color":"red","party_hat_year":2022} = PARTY_HAT_CRAB_RED_ANIMATED
{"id":"PARTY_HAT_SLOTH","party_hat_emoji":"cute"} = PARTY_HAT_SLOTH_CUTE
{"id":"BALLOON_HAT_2024","party_hat_color":"green"} = BALLOON_HAT_2024_GREEN BALLOON_HAT_2024
{"id":"CAKE_HAT_2026","party_hat_color":"aqua"} = CAKE_HAT_2026_AQUA CAKE_HAT_2026
{"id":"CAKE_HAT_2026"} = Undecided
{"id":"ABICASE","model":"SUMSUNG_1"} = ABICASE_SUMSUNG_1
{"id":"ABICASE","model":1} = NotAnItem
{"id":"NEW_YEAR_CAKE","new_years_cake":"486"} = NEW_YEAR_CAKE
{"id":"NEW_YEAR_CAKE","new_years_cake":486} = NEW_YEAR_CAKE NEW_YEAR_CAKE+486
{"id":""} = Id
{"id":"Ä"} = Id
{"id":7} = NotAnItem
{"uuid":"a"} = NotAnItem"#;

/// Attributes of upgrades, and the fields of `petInfo` that are upgrades: those that public code knows.
const UPGRADES: &str = "
modifier upgrade_level dungeon_item_level rarity_upgrades enchantments gems gemstone_slots runes skin dye_item hot_potato_count
hotPotatoBonus ability_scroll power_ability_scroll art_of_war_count artOfPeaceApplied farming_for_dummies_count levelable_overclocks
bookworm_books jalapeno_count polarvoid stats_book wet_book_count wood_singularity_count drill_part_engine drill_part_fuel_tank
drill_part_upgrade_module divan_powder_coating line hook sinker ethermerge tuned_transmission mana_disintegrator_count boosters
talisman_enrichment thunder_charge mixins sack_pss mithril_infusion free_will additional_coins petInfo.heldItem petInfo.skin";

/// Attributes and fields of `petInfo` that say nothing about upgrades.
const NEUTRAL: &str = "
absorb_logs_chopped ammo anvil_uses attributes auction backpack_color baseStatBoostPercentage basket_of_seeds_data bass_weight bid
blaze_consumer blazetekk_channel blocks_walked blocksBroken blood_god_kills bookshelf_loops boss_tier bossId bottle_of_jyrre_last_update
bottle_of_jyrre_seconds bow_kills builder's_ruler_data builder's_wand_data cake_owner captured_date captured_player century_year
champion_combat_xp charges_used chimera_found coins_gained collected_coins color compact_blocks date donated_museum drill_fuel
dungeon_item dungeon_paper_id dungeon_skill_req dye_donated edition eman_kills event EXE expertise_kills farmed_cultivating
fishes_caught fungi_cutter_mode gemstone_gauntlet_meter generator_tier ghast_blaster gilded_gifted_coins glowing greater_backpack_data
handle_loops handles_found health hecatomb_s_runs historic_dungeon_score id initiator_player intelligence_earned is_shiny
item_durability item_tier jumbo_backpack_data large_backpack_data lastForceEvolvedTime lava_creatures_killed leaderPosition leaderVotes
levelable_exp levelable_lvl levels_found lm_evo logs_cut magma_cube_absorber magmaCubesKilled maxed_stats medium_backpack_data
mined_crops model mousemat_pitch mousemat_yaw names_found necromancer_souls nether_wart_pouch_data netherwart_pouch_data
new_year_cake_bag_data new_years_cake originTag pandora-rarity party_hat_color party_hat_emoji party_hat_year pelts_earned
personal_compact_0 personal_compactor_1 personal_deletor_11 PERSONAL_DELETOR_ACTIVE pet_exp pickonimbus_durability player
players_clicked post_card_minion_tier post_card_minion_type price promising_pickaxe_breaks puzzles_solved radius raffle_win raffle_year
raider_kills ranchers_speed recall_potion_biome recall_potion_location recipient_id recipient_name recipient_team rep_particles
rep_radius repelling_color resources_generated rift_discrite_seconds rift_transferred runic_kills seconds_held sender_name
shop_dungeon_floor_completion_required skeletorKills small_backpack_data soul_durability spawnedFor spider_kills spray stored_drill_fuel
sword_kills td_attune_mode tickets timestamp total_generations toxophilite_combat_xp trainingWeightsHeldTime trapsDefused tune
tuning_fork_tuning ultimateSoulEaterData uuid WAI winning_bid winning_team wishing_compass_uses year yearObtained yogsKilled ZEE
zombie_kills zombiesKilled petInfo.type petInfo.tier petInfo.exp petInfo.active petInfo.hideInfo petInfo.hideRightClick petInfo.noMove
petInfo.candyUsed petInfo.petSoulbound petInfo.uuid petInfo.uniqueId petInfo.heldItemUuid petInfo.extraData";

fn compressed(nbt: &[u8]) -> String {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(nbt).unwrap();
    STANDARD.encode(encoder.finish().unwrap())
}

/// NBT with one item. Its lore has a character that NBT stores as a surrogate pair.
fn nbt_of_item(attributes: &Json) -> Vec<u8> {
    let name = attributes["name"].as_str().unwrap_or_default();
    let display = nbt!({"Lore": ["§7A bone: 🦴", "§6§lLEGENDARY"], "Name": name});
    let tag = nbt!({"HideFlags": 254, "display": display, "ExtraAttributes": attributes});
    fastnbt::to_bytes(&nbt!({"i": [{"id": 397_i16, "Count": 1_i8, "Damage": 3_i16, "tag": tag}]})).unwrap()
}

fn item_of(attributes: &Json) -> Result<Item, Reason> {
    read(&compressed(&nbt_of_item(attributes)), &mut Buffers::default())
}

#[test]
fn every_kind_of_item_has_the_id_that_mods_use() {
    for example in EXAMPLES.trim().lines() {
        let (attributes, expected) = example.split_once(" = ").unwrap();
        let found = match item_of(&serde_json::from_str(attributes).unwrap()) {
            Ok(Item { id, also: Some(also), .. }) => format!("{} {}", id.as_str(), also.as_str()),
            Ok(Item { id, .. }) => id.as_str().to_owned(),
            Err(reason) => format!("{reason:?}"),
        };
        assert_eq!(found, expected, "{attributes}");
    }
}

fn is_clean(attributes: &Json) -> bool {
    item_of(attributes).unwrap().properties.clean
}

/// The attributes of an item with this attribute or, after `petInfo.`, of a pet with this field.
fn with(name: &str, value: &Json) -> Json {
    let Some(field) = name.strip_prefix("petInfo.") else { return json!({"id": "HYPERION", name: value}) };
    let mut pet = json!({"type": "BEE", "tier": "COMMON"});
    pet[field] = value.clone();
    json!({"id": "PET", "petInfo": pet.to_string()})
}

/// Items with attributes that identify them and are upgrades of other items.
fn identities() -> [Json; 5] {
    let potion = json!({
        "id": "POTION", "potion": "speed", "potion_level": 8, "potion_name": "Ice", "potion_type": "POTION",
        "effects": ["A"], "enhanced": 1, "extended": 1, "splash": 1
    });
    [
        json!({"id": "ENCHANTED_BOOK", "enchantments": {"growth": 5}}),
        json!({"id": "RUNE", "runes": {"ICE": 1}}),
        json!({"id": "UNIQUE_RUNE", "runes": {"GOLDEN_CARPET": 3}}),
        json!({"id": "THUNDER_IN_A_BOTTLE_EMPTY", "thunder_charge": 208}),
        potion,
    ]
}

#[test]
fn every_attribute_is_an_upgrade_unless_it_is_known_to_be_none() {
    for name in UPGRADES.split_whitespace().chain(["new", "petInfo.new", "petInfo.uuids", "uuids", "Uuid"]) {
        for set in [json!(1), json!("RARE"), json!(["A"]), json!({"a": "A"}), json!({"a": [0]})] {
            assert!(!is_clean(&with(name, &set)), "{name} {set}");
        }
        for unset in [json!(0), json!(0.0), json!(""), json!([]), json!({}), json!({"a": {"b": 0}})] {
            assert!(is_clean(&with(name, &unset)), "{name} {unset}");
        }
    }
    for name in NEUTRAL.split_whitespace() {
        assert!(is_clean(&with(name, &json!("RARE"))), "{name}");
    }
    assert!(is_clean(&with("petInfo.skin", &Json::Null)));
    assert!(!is_clean(&json!({"id": "HYPERION", "petInfo": "no JSON"})));
}

#[test]
fn an_attribute_that_identifies_its_item_is_no_upgrade() {
    for item in identities() {
        assert!(is_clean(&item), "{item}");
        for (name, value) in item.as_object().unwrap().iter().filter(|(name, _)| *name != "id") {
            assert!(!is_clean(&with(name, value)), "{name}");
        }
    }
}

#[test]
fn the_level_of_a_pet_is_in_its_name() {
    let level = |id: &str, name: &str| {
        let pet = json!({"id": id, "petInfo": r#"{"type":"BEE","tier":"RARE"}"#, "name": name});
        item_of(&pet).unwrap().properties.level.map(PetLevel::get)
    };
    for number in [1, 87, 100, 200] {
        assert_eq!(level("PET", &format!("§7[Lvl {number}] §6Bee")), Some(number));
    }
    for name in ["[Lvl 0] Bee", "[Lvl 201] Bee", "[Lvl 256] Bee", "[Lvl ] Bee", "[Lvl 5", "Lvl 5", ""] {
        assert_eq!(level("PET", name), None, "{name}");
    }
    assert_eq!(level("HYPERION", "[Lvl 5] Hyperion"), None);
}

#[test]
fn there_is_one_item_and_its_count_is_positive() {
    let reason = |items: Json| {
        read(&compressed(&fastnbt::to_bytes(&nbt!({"i": items})).unwrap()), &mut Buffers::default()).err()
    };
    let item = |count: i32| json!({"Count": count, "tag": {"ExtraAttributes": {"id": "HYPERION"}}});
    assert_eq!(reason(json!([item(64)])), None);
    assert_eq!(reason(json!([item(0)])), Some(Reason::Count));
    assert_eq!(reason(json!([item(-1)])), Some(Reason::Count));
    for items in [json!([]), json!([item(1), item(1)]), json!([{"Count": 1}]), json!(1)] {
        assert_eq!(reason(items), Some(Reason::NotAnItem));
    }
}

#[test]
fn text_and_bytes_are_bounded() {
    let mut buffers = Buffers::default();
    let mut reason = |text: &str| read(text, &mut buffers).err();
    assert_eq!(reason(&"A".repeat(LONGEST_TEXT)), Some(Reason::Encoding));
    assert_eq!(reason(&"A".repeat(LONGEST_TEXT + 4)), Some(Reason::TooLarge));
    assert_eq!(reason(&compressed(&vec![0; LARGEST_NBT])), Some(Reason::Nbt));
    assert_eq!(reason(&compressed(&vec![0; LARGEST_NBT + 1])), Some(Reason::TooLarge));
    for text in ["ä", "AA=", "AAA", "A===", " AAAA", "AA==AA==", "____"] {
        assert_eq!(reason(text), Some(Reason::Encoding), "{text}");
    }
    let nbt = nbt_of_item(&json!({"id": "HYPERION"}));
    let text = compressed(&nbt);
    assert_eq!(reason(&text), None);
    for length in 0..text.len() {
        assert_eq!(reason(&text[..length]), Some(Reason::Encoding), "{length}");
    }
    for length in 0..nbt.len() {
        assert_eq!(reason(&compressed(&nbt[..length])), Some(Reason::Nbt), "{length}");
    }
    assert_eq!(reason(&compressed(&[&nbt[..], &[END]].concat())), Some(Reason::Nbt));
    // Half of a surrogate pair in the lore is no error, because the lore is not read.
    let half = nbt.windows(3).position(|bytes| bytes == [0xed, 0xb6, 0xb4]).unwrap();
    assert_eq!(reason(&compressed(&[&nbt[..half], b"abc", &nbt[half + 3..]].concat())), None);
    for (length, expected) in [(64, None), (65, Some(Reason::Id)), (60_000, Some(Reason::Id))] {
        assert_eq!(item_of(&json!({"id": "A".repeat(length)})).err(), expected);
    }
}

#[test]
fn nesting_is_bounded_and_lengths_are_not_trusted() {
    // The root has one entry: a type, the name `x`, and the value.
    let reason = |kind: u8, value: &[u8]| {
        let nbt = [&[COMPOUND, 0, 0, kind, 0, 1, b'x'], value, &[END]].concat();
        read(&compressed(&nbt), &mut Buffers::default()).unwrap_err()
    };
    let lists = |depth: usize| [[LIST, 0, 0, 0, 1].repeat(depth - 1), vec![END; 5]].concat();
    let compounds = |depth: usize| [[COMPOUND, 0, 0].repeat(depth - 1), vec![END; depth]].concat();
    assert_eq!(reason(LIST, &lists(DEEPEST - 1)), Reason::NotAnItem);
    assert_eq!(reason(COMPOUND, &compounds(DEEPEST - 1)), Reason::NotAnItem);
    for depth in [DEEPEST, LARGEST_NBT / 6] {
        assert_eq!(reason(LIST, &lists(depth)), Reason::Nbt);
        assert_eq!(reason(COMPOUND, &compounds(depth)), Reason::Nbt);
    }
    for length in [i32::MAX, 1, -1].map(i32::to_be_bytes) {
        for array in [7, 11, 12] {
            assert_eq!(reason(array, &length), Reason::Nbt, "{array} {length:?}");
        }
        for element in [END, 1, COMPOUND, 13, 255] {
            let list = [&[element], &length[..]].concat();
            assert_eq!(reason(LIST, &list), Reason::Nbt, "{element} {length:?}");
        }
    }
    assert_eq!(reason(8, &[0, 200]), Reason::Nbt);
    assert_eq!(reason(13, &[]), Reason::Nbt);
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn the_ids_are_the_internal_names_of_mods() {
    let pairs = captures::text("../../auctions/neu-ids.json").unwrap();
    let pairs: Vec<Json> = serde_json::from_str(&pairs).unwrap();
    assert_eq!(pairs.len(), 3_988);
    for pair in pairs {
        let item = item_of(&pair["extra_attributes"]);
        let id = item.as_ref().map(|item| item.id.as_str());
        assert_eq!(id, Ok(pair["internalname"].as_str().unwrap()), "{pair}");
    }
}

fn captured(folder: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for file in captures::folder().unwrap().join(folder).read_dir().unwrap() {
        let body: Json = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        let auctions = body["auctions"].as_array().unwrap();
        texts.extend(auctions.iter().map(|auction| auction["item_bytes"].as_str().unwrap().to_owned()));
    }
    texts
}

fn read_all(texts: &[String]) -> Vec<Item> {
    let mut buffers = Buffers::default();
    texts.iter().map(|text| read(text, &mut buffers).unwrap()).collect()
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn every_captured_auction_is_an_item() {
    // The numbers of items, distinct ids, stacks, items with a second id, attribute shards, and attribute
    // shards above level 1.
    let figures = |items: &[Item]| {
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        let count = |is: fn(&&Item) -> bool| items.iter().filter(is).count();
        let shards: Vec<&str> = ids.iter().filter_map(|id| id.strip_prefix("ATTRIBUTE_SHARD_")).collect();
        let higher = shards.iter().filter(|shard| !shard.ends_with(";1")).count();
        let (stacks, seconds) = (count(|item| item.count.get() > 1), count(|item| item.also.is_some()));
        [ids.len(), BTreeSet::from_iter(ids).len(), stacks, seconds, shards.len(), higher]
    };
    assert_eq!(figures(&read_all(&captured("auctions"))), [1_000, 506, 5, 11, 16, 11]);
    assert_eq!(figures(&read_all(&captured("auctions_ended"))), [1_940, 821, 12, 47, 0, 0]);
}

#[derive(Deserialize)]
struct Slots {
    i: [Slot; 1],
}

#[derive(Deserialize)]
struct Slot {
    tag: Tag,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(rename = "ExtraAttributes")]
    attributes: HashMap<String, Nbt>,
}

/// The attributes of an item, with `petInfo.FIELD` for the fields of a pet.
fn attributes_of(item_bytes: &str) -> HashMap<String, Nbt> {
    let gzip = STANDARD.decode(item_bytes).unwrap();
    let mut nbt = Vec::new();
    flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut nbt).unwrap();
    let Slots { i: [Slot { tag: Tag { mut attributes } }] } = fastnbt::from_bytes(&nbt).unwrap();
    if let Some(Nbt::String(pet)) = attributes.remove("petInfo") {
        let fields: HashMap<String, Json> = serde_json::from_str(&pet).unwrap();
        let named =
            |(name, field): (String, Json)| (format!("petInfo.{name}"), Nbt::String(field.to_string()));
        attributes.extend(fields.into_iter().map(named));
    }
    attributes
}

fn is_set(value: &Nbt) -> bool {
    match value {
        Nbt::Compound(entries) => entries.values().any(is_set),
        Nbt::List(elements) => !elements.is_empty(),
        Nbt::String(text) => !text.is_empty(),
        number => number.as_i64() != Some(0),
    }
}

/// An attribute that the game has added since fails this test until it is in one of the two lists.
#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn every_captured_attribute_is_known_and_decides_whether_its_item_is_clean() {
    let identities = identities();
    let set_of = |names: &'static str| names.split_whitespace().collect::<HashSet<_>>();
    let (upgrades, neutral) = (set_of(UPGRADES), set_of(NEUTRAL));
    for text in ["auctions", "auctions_ended"].into_iter().flat_map(captured) {
        let attributes = attributes_of(&text);
        let Some(Nbt::String(id)) = attributes.get("id") else { panic!("{attributes:?}") };
        let identity = identities.iter().find(|item| item["id"] == *id);
        let mut is_clean = true;
        for (name, value) in &attributes {
            if identity.is_some_and(|item| item.get(name).is_some()) {
                continue;
            }
            let is_upgrade = upgrades.contains(&**name);
            assert!(is_upgrade || neutral.contains(&**name), "{id} {name}");
            is_clean &= !(is_upgrade && is_set(value));
        }
        let item = read(&text, &mut Buffers::default()).unwrap();
        assert_eq!(item.properties.clean, is_clean, "{attributes:?}");
    }
}

/// The names of the properties, without `level` and `clean`.
const PROPERTIES: [&str; 6] = ["stars", "recombobulated", "reforge", "enchantments", "held_item", "skin"];

fn values(item: &Item) -> Json {
    let properties = json!(item.properties);
    json!(PROPERTIES.map(|name| properties[name].clone()))
}

/// The values of these properties, from the attributes.
fn expected_values(attributes: &HashMap<String, Nbt>) -> Json {
    let number = |name: &str| attributes.get(name).and_then(Nbt::as_i64).filter(|number| *number > 0);
    let text = |name: &str| attributes.get(name).and_then(Nbt::as_str).map(str::to_owned);
    // `attributes_of` stores the fields of a pet as JSON.
    let of_pet =
        |name: &str| text(name).and_then(|json| serde_json::from_str::<Option<String>>(&json).unwrap());
    let levels = match attributes.get("enchantments") {
        Some(Nbt::Compound(levels)) => {
            levels.iter().map(|(name, level)| (name.to_lowercase(), level.as_i64())).collect()
        }
        _ => BTreeMap::new(),
    };
    json!([
        number("upgrade_level").max(number("dungeon_item_level")),
        number("rarity_upgrades").is_some(),
        text("modifier"),
        Some(levels).filter(|levels| !levels.is_empty()),
        of_pet("petInfo.heldItem"),
        text("skin").or(of_pet("petInfo.skin")),
    ])
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn the_properties_of_every_captured_item_are_those_of_its_attributes() {
    let mut applied = [0; 6];
    for text in ["auctions", "auctions_ended"].into_iter().flat_map(captured) {
        let found = values(&read(&text, &mut Buffers::default()).unwrap());
        assert_eq!(found, expected_values(&attributes_of(&text)), "{text}");
        for (property, applied) in found.as_array().unwrap().iter().zip(&mut applied) {
            *applied += usize::from(![json!(null), json!(false)].contains(property));
        }
    }
    assert_eq!(applied, [125, 108, 432, 439, 58, 5]);
}

#[test]
fn properties_are_read_from_attributes_of_the_expected_types_only() {
    let properties = |attributes: &Json| {
        let mut attributes = attributes.clone();
        attributes["id"] = json!("HYPERION");
        values(&item_of(&attributes).unwrap())
    };
    let none = json!([null, false, null, null, null, null]);
    for (attributes, expected) in [
        (json!({}), none.clone()),
        (json!({"upgrade_level": 5}), json!([5, false, null, null, null, null])),
        (json!({"dungeon_item_level": 10}), json!([10, false, null, null, null, null])),
        (json!({"upgrade_level": 3, "dungeon_item_level": 5}), json!([5, false, null, null, null, null])),
        (
            json!({"upgrade_level": "5", "rarity_upgrades": {}, "modifier": 1, "enchantments": [], "skin": 7}),
            none.clone(),
        ),
        (json!({"upgrade_level": -1, "rarity_upgrades": 0, "modifier": "", "skin": "a b"}), none.clone()),
        (json!({"upgrade_level": 256, "skin": "A".repeat(65), "petInfo": "no JSON"}), none.clone()),
        (
            json!({"rarity_upgrades": 1, "modifier": "Heroic"}),
            json!([null, true, "heroic", null, null, null]),
        ),
        (
            json!({"enchantments": {"PROSECUTE": 5, "growth": 0, "a": 256, "b": "1", "ü": 1, "ultimate_wise": 255}}),
            json!([null, false, null, {"prosecute": 5, "ultimate_wise": 255}, null, null]),
        ),
        (json!({"skin": "FLAME"}), json!([null, false, null, null, null, "FLAME"])),
        (
            json!({"petInfo": r#"{"type":"BEE","tier":"RARE","heldItem":"PET_ITEM_LUCKY_CLOVER","skin":"QUEEN"}"#}),
            json!([null, false, null, null, "PET_ITEM_LUCKY_CLOVER", "QUEEN"]),
        ),
        (json!({"petInfo": r#"{"heldItem":null,"skin":[1]}"#}), none),
    ] {
        assert_eq!(properties(&attributes), expected, "{attributes}");
    }
}
