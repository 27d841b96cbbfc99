//! The words in identifiers, names and texts. They are the same for every seed, so that tests can name
//! products and items.

use std::sync::LazyLock;

use crate::famous;

/// The words of a file with one word per line.
pub(crate) type Words = LazyLock<Vec<&'static str>>;

pub(crate) fn lines(file: &'static str) -> Vec<&'static str> {
    file.lines().collect()
}

/// A collection category, and its materials as identifier and display name.
type Category = (&'static str, Vec<(&'static str, &'static str)>);

/// Collected materials. Identifier and display name sometimes differ, and some identifiers contain a colon.
pub(crate) static MATERIALS: LazyLock<Vec<Category>> = LazyLock::new(|| {
    let categories = include_str!("../words/materials.txt").split("\n\n");
    let category = |text: &'static str| {
        let (category, materials) = text.split_once('\n')?;
        Some((category, materials.lines().filter_map(|line| line.split_once(' ')).collect()))
    };
    categories.filter_map(category).collect()
});

/// Enchantments that come in levels 1 to 6.
pub(crate) static ENCHANTMENTS: Words = Words::new(|| lines(include_str!("../words/enchantments.txt")));

/// Ultimate enchantments, levels 1 to 5.
pub(crate) static ULTIMATE_ENCHANTMENTS: Words =
    Words::new(|| lines(include_str!("../words/ultimate_enchantments.txt")));

/// Creatures, in the names of attribute shards, minions and pets.
pub(crate) static CREATURES: Words = Words::new(|| lines(include_str!("../words/creatures.txt")));

/// The first words of identifiers of many kinds.
pub(crate) static FRONT_WORDS: Words = Words::new(|| lines(include_str!("../words/front_words.txt")));

/// The last words of the identifiers of tradable items that begin with one of [`FRONT_WORDS`].
static TRADE_NOUNS: Words = Words::new(|| lines(include_str!("../words/trade_nouns.txt")));

/// Gemstones, each in the five [`GEM_QUALITIES`].
static GEMS: Words = Words::new(|| lines(include_str!("../words/gems.txt")));

/// The qualities of a gemstone, from the cheapest to the most expensive.
const GEM_QUALITIES: &[&str] = &["ROUGH", "FLAWED", "FINE", "FLAWLESS", "PERFECT"];

pub(crate) static ESSENCES: Words = Words::new(|| lines(include_str!("../words/essences.txt")));

pub(crate) static SETS: Words = Words::new(|| lines(include_str!("../words/sets.txt")));

/// The pieces of an armour set: identifier, Minecraft material.
pub(crate) const PIECES: &[(&str, &str)] = &[
    ("HELMET", "LEATHER_HELMET"),
    ("CHESTPLATE", "LEATHER_CHESTPLATE"),
    ("LEGGINGS", "IRON_LEGGINGS"),
    ("BOOTS", "CHAINMAIL_BOOTS"),
];

/// Weapons and tools: word, category, Minecraft material.
pub(crate) const WEAPONS: &[(&str, &str, &str)] = &[
    ("SWORD", "SWORD", "DIAMOND_SWORD"),
    ("KATANA", "SWORD", "GOLD_SWORD"),
    ("DAGGER", "SWORD", "IRON_SWORD"),
    ("CLEAVER", "SWORD", "STONE_SWORD"),
    ("SHORTBOW", "BOW", "BOW"),
    ("LONGBOW", "BOW", "BOW"),
    ("WAND", "WAND", "STICK"),
    ("STAFF", "WAND", "BLAZE_ROD"),
    ("DRILL", "DRILL", "PRISMARINE_SHARD"),
    ("PICKAXE", "PICKAXE", "DIAMOND_PICKAXE"),
    ("GAUNTLET", "GAUNTLET", "SKULL_ITEM"),
    ("AXE", "AXE", "DIAMOND_AXE"),
    ("HOE", "HOE", "DIAMOND_HOE"),
    ("SHOVEL", "SHOVEL", "GOLD_SPADE"),
    ("ROD", "FISHING_ROD", "FISHING_ROD"),
    ("WHIP", "FISHING_WEAPON", "LEASH"),
];

/// Accessories, in three sizes.
pub(crate) const ACCESSORIES: &[&str] = &["TALISMAN", "RING", "ARTIFACT"];

/// The middle words of the identifiers of accessories.
pub(crate) static CHARMS: Words = Words::new(|| lines(include_str!("../words/charms.txt")));

pub(crate) static FURNITURE: Words = Words::new(|| lines(include_str!("../words/furniture.txt")));

/// Player names that appear in texts.
pub(crate) static TOWNSFOLK: Words = Words::new(|| lines(include_str!("../words/townsfolk.txt")));

/// A small Roman numeral, up to 12.
pub(crate) fn roman(number: usize) -> &'static str {
    ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
        .get(number)
        .unwrap_or(&"XII")
}

/// `SOME_IDENTIFIER:3` as `Some Identifier 3`.
pub(crate) fn title(identifier: &str) -> String {
    let mut name = String::with_capacity(identifier.len());
    let mut upper = true;
    for character in identifier.chars() {
        match character {
            '_' | ':' => {
                name.push(' ');
                upper = true;
            }
            _ if upper => {
                name.push(character);
                upper = false;
            }
            _ => name.push(character.to_ascii_lowercase()),
        }
    }
    name
}

/// Every product that the bazaar can trade, unordered.
pub(crate) static PRODUCTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut ids: Vec<String> = tradable_items().collect();
    ids.extend(["X", "Y", "Z"].map(String::from));
    for enchantment in ENCHANTMENTS.iter() {
        ids.extend((1..=6).map(|level| format!("ENCHANTMENT_{enchantment}_{level}")));
    }
    for enchantment in ULTIMATE_ENCHANTMENTS.iter() {
        ids.extend((1..=5).map(|level| format!("ENCHANTMENT_ULTIMATE_{enchantment}_{level}")));
    }
    for prefix in ["", "ELDER_", "GLOOM_"] {
        ids.extend(CREATURES.iter().map(|creature| format!("SHARD_{prefix}{creature}")));
    }
    ids.extend(ESSENCES.iter().map(|essence| format!("ESSENCE_{essence}")));
    ids.extend(famous::PRODUCTS.map(|product| product.id.to_owned()));
    ids
});

/// The products that are also items: no enchantments, shards, essences or single letters.
pub(crate) fn tradable_items() -> impl Iterator<Item = String> {
    let materials = || MATERIALS.iter().flat_map(|(_, list)| list.iter().map(|(id, _)| *id));
    let raw = materials().filter(|id| !id.ends_with("_COLLECTION")).map(String::from);
    let enchanted =
        materials().filter(|id| !id.contains(':') && !id.ends_with("_COLLECTION")).flat_map(|id| {
            let compressed = (id.len() < 9).then(|| format!("ENCHANTED_{id}_BLOCK"));
            std::iter::once(format!("ENCHANTED_{id}")).chain(compressed)
        });
    let gems =
        GEMS.iter().flat_map(|gem| GEM_QUALITIES.iter().map(move |quality| format!("{quality}_{gem}_GEM")));
    let odds =
        FRONT_WORDS.iter().flat_map(|front| TRADE_NOUNS.iter().map(move |noun| format!("{front}_{noun}")));
    raw.chain(enchanted).chain(gems).chain(odds)
}

/// The cosmetic skins that fire sales sell.
pub(crate) fn skins() -> impl Iterator<Item = String> {
    CREATURES.iter().flat_map(|creature| {
        ["WHITE", "BLACK", "NEON", "COSMIC"].map(|colour| format!("PET_SKIN_{creature}_{colour}"))
    })
}
