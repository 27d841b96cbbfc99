//! The words in identifiers, names and texts. They are the same for every seed, so that tests can name products and items.

use std::sync::LazyLock;

/// Collected materials by collection category, as identifier and display name. Both differ now and then, and some
/// identifiers carry a colon.
pub(crate) const MATERIALS: &[(&str, &[(&str, &str)])] = &[
    (
        "FARMING",
        &[
            ("INK_SACK:3", "Cocoa Beans"),
            ("MOONFLOWER", "Moonflower"),
            ("CARROT_ITEM", "Carrot"),
            ("DOUBLE_PLANT", "Sunflower"),
            ("WILD_ROSE", "Wild Rose"),
            ("CACTUS", "Cactus"),
            ("RAW_CHICKEN", "Raw Chicken"),
            ("SUGAR_CANE", "Sugar Cane"),
            ("PUMPKIN", "Pumpkin"),
            ("WHEAT", "Wheat"),
            ("SEEDS", "Seeds"),
            ("MUSHROOM_COLLECTION", "Mushroom"),
            ("RABBIT", "Raw Rabbit"),
            ("NETHER_STALK", "Nether Wart"),
            ("MUTTON", "Raw Mutton"),
            ("MELON", "Melon Slice"),
            ("POTATO_ITEM", "Potato"),
            ("LEATHER", "Leather"),
            ("PORK", "Raw Porkchop"),
            ("FEATHER", "Feather"),
        ],
    ),
    (
        "MINING",
        &[
            ("INK_SACK:4", "Lapis Lazuli"),
            ("REDSTONE", "Redstone Dust"),
            ("UMBER", "Umber"),
            ("COAL", "Coal"),
            ("MYCEL", "Mycelium"),
            ("ENDER_STONE", "End Stone"),
            ("QUARTZ", "Nether Quartz"),
            ("SAND", "Sand"),
            ("IRON_INGOT", "Iron Ingot"),
            ("GEMSTONE_COLLECTION", "Gemstone"),
            ("TUNGSTEN", "Tungsten"),
            ("OBSIDIAN", "Obsidian"),
            ("DIAMOND", "Diamond"),
            ("COBBLESTONE", "Cobblestone"),
            ("GLOWSTONE_DUST", "Glowstone Dust"),
            ("GOLD_INGOT", "Gold Ingot"),
            ("GRAVEL", "Gravel"),
            ("HARD_STONE", "Hard Stone"),
            ("MITHRIL_ORE", "Mithril"),
            ("EMERALD", "Emerald"),
            ("SAND:1", "Red Sand"),
            ("ICE", "Ice"),
            ("GLACITE", "Glacite"),
            ("SULPHUR_ORE", "Sulphur"),
            ("NETHERRACK", "Netherrack"),
        ],
    ),
    (
        "COMBAT",
        &[
            ("ENDER_PEARL", "Ender Pearl"),
            ("CHILI_PEPPER", "Chili Pepper"),
            ("SLIME_BALL", "Slimeball"),
            ("MAGMA_CREAM", "Magma Cream"),
            ("GHAST_TEAR", "Ghast Tear"),
            ("SULPHUR", "Gunpowder"),
            ("ROTTEN_FLESH", "Rotten Flesh"),
            ("SPIDER_EYE", "Spider Eye"),
            ("BONE", "Bone"),
            ("BLAZE_ROD", "Blaze Rod"),
            ("STRING", "String"),
        ],
    ),
    (
        "FORAGING",
        &[
            ("SEA_LUMIES", "Sea Lumies"),
            ("LOG_2", "Acacia Log"),
            ("LOG:1", "Spruce Log"),
            ("VINESAP", "Vinesap"),
            ("LOG:3", "Jungle Log"),
            ("LOG:2", "Birch Log"),
            ("LUSHLILAC", "Lushlilac"),
            ("MANGROVE_LOG", "Mangrove Log"),
            ("LOG", "Oak Log"),
            ("HONEYCOMB", "Honeycomb"),
            ("FIG_LOG", "Fig Log"),
            ("TENDER_WOOD", "Tender Wood"),
            ("LOG_2:1", "Dark Oak Log"),
        ],
    ),
    (
        "FISHING",
        &[
            ("WATER_LILY", "Lily Pad"),
            ("PRISMARINE_SHARD", "Prismarine Shard"),
            ("INK_SACK", "Ink Sac"),
            ("RAW_FISH", "Raw Cod"),
            ("RAW_FISH:3", "Pufferfish"),
            ("LOTUS", "Lotus"),
            ("RAW_FISH:2", "Tropical Fish"),
            ("RAW_FISH:1", "Raw Salmon"),
            ("MAGMA_FISH", "Magmafish"),
            ("PRISMARINE_CRYSTALS", "Prismarine Crystals"),
            ("CLAY_BALL", "Clay Ball"),
            ("SPONGE", "Sponge"),
        ],
    ),
    (
        "RIFT",
        &[
            ("WILTED_BERBERIS", "Wilted Berberis"),
            ("METAL_HEART", "Living Metal Heart"),
            ("CADUCOUS_STEM", "Caducous Stem"),
            ("AGARICUS_CAP", "Agaricus Cap"),
            ("HEMOVIBE", "Hemovibe"),
            ("HALF_EATEN_CARROT", "Half-Eaten Carrot"),
            ("TIMITE", "Timite"),
        ],
    ),
];

/// Enchantments that come in levels 1 to 6.
pub(crate) const ENCHANTMENTS: &[&str] = &[
    "ANGLER",
    "AQUA_AFFINITY",
    "BANE_OF_ARTHROPODS",
    "BIG_BRAIN",
    "BLAST_PROTECTION",
    "BLESSING",
    "CASTER",
    "CAYENNE",
    "CHAMPION",
    "CHANCE",
    "CHARM",
    "CLEAVE",
    "COMPACT",
    "CORRUPTION",
    "COUNTER_STRIKE",
    "CRITICAL",
    "CUBISM",
    "CULTIVATING",
    "DEDICATION",
    "DELICATE",
    "DEPTH_STRIDER",
    "DIVINE_GIFT",
    "DRAGON_HUNTER",
    "DRAGON_TRACER",
    "EFFICIENCY",
    "ENDER_SLAYER",
    "EXECUTE",
    "EXPERIENCE",
    "EXPERTISE",
    "FEATHER_FALLING",
    "FEROCIOUS_MANA",
    "FIRE_ASPECT",
    "FIRE_PROTECTION",
    "FIRST_STRIKE",
    "FLAME",
    "FORTUNE",
    "FRAIL",
    "FROST_WALKER",
    "GIANT_KILLER",
    "GREEN_THUMB",
    "GROWTH",
    "HARDENED_MANA",
    "HARVESTING",
    "HECATOMB",
    "ICE_COLD",
    "IMPALING",
    "INFINITE_QUIVER",
    "KNOCKBACK",
    "LAPIDARY",
    "LETHALITY",
    "LIFE_STEAL",
    "LOOTING",
    "LUCK",
    "LUCK_OF_THE_SEA",
    "LURE",
    "MAGNET",
    "MANA_STEAL",
    "MANA_VAMPIRE",
    "OVERLOAD",
    "PALEONTOLOGIST",
    "PESTERMINATOR",
    "PISCARY",
    "POWER",
    "PRISTINE",
    "PROJECTILE_PROTECTION",
    "PROSECUTE",
    "PROSPERITY",
    "PROTECTION",
    "PUNCH",
    "QUANTUM",
    "QUICK_BITE",
    "REFLECTION",
    "REJUVENATE",
    "REPLENISH",
    "RESPIRATION",
    "RESPITE",
    "SCAVENGER",
    "SCUBA",
    "SHARPNESS",
    "SILK_TOUCH",
    "SMARTY_PANTS",
    "SMELTING_TOUCH",
    "SMITE",
    "SMOLDERING",
    "SNIPE",
    "SPIKED_HOOK",
    "STEALTH",
    "STRONG_MANA",
    "SUGAR_RUSH",
    "SUNDER",
    "SYPHON",
    "TABASCO",
    "THORNS",
    "THUNDERBOLT",
    "THUNDERLORD",
    "TITAN_KILLER",
    "TRANSYLVANIAN",
    "TRIPLE_STRIKE",
    "TRUE_PROTECTION",
    "TURBO_CACTUS",
    "VAMPIRISM",
    "VENOMOUS",
    "VICIOUS",
];

/// Ultimate enchantments, levels 1 to 5. One of them is the row that real dumps show half filled.
pub(crate) const ULTIMATE_ENCHANTMENTS: &[&str] = &[
    "BANK",
    "BOBBIN_TIME",
    "CHIMERA",
    "COMBO",
    "CROP_FEVER",
    "DUPLEX",
    "FATAL_TEMPO",
    "FLASH",
    "FLOWSTATE",
    "HABANERO_TACTICS",
    "INFERNO",
    "JERRY",
    "LAST_STAND",
    "LEGION",
    "NO_PAIN_NO_GAIN",
    "ONE_FOR_ALL",
    "REFRIGERATE",
    "REND",
    "SOUL_EATER",
    "SWARM",
    "THE_ONE",
    "WISDOM",
    "WISE",
    "REITERATE",
    "GARROTE",
    "DRAIN",
    "FIRST_IMPRESSION",
    "MISSILE",
];

/// Creatures: the attribute shards, the minions' bestiary and the pets.
pub(crate) const CREATURES: &[&str] = &[
    "BAL",
    "BAT",
    "BEE",
    "BLAZE",
    "BLUE_WHALE",
    "CHICKEN",
    "COW",
    "CREEPER",
    "CROW",
    "DODO",
    "DOLPHIN",
    "EEL",
    "ELEPHANT",
    "ENDERMAN",
    "ENDERMITE",
    "FLAMINGO",
    "FROG",
    "GHAST",
    "GIRAFFE",
    "GOBLIN",
    "GOLEM",
    "GRIFFIN",
    "GUARDIAN",
    "HEDGEHOG",
    "HORSE",
    "JERRY",
    "KUUDRA",
    "LION",
    "LYNX",
    "MAGMA_CUBE",
    "MAMMOTH",
    "MEGALODON",
    "MITHRIL_GOLEM",
    "MOLE",
    "MONKEY",
    "MOOSHROOM",
    "NESSIE",
    "OCELOT",
    "OWL",
    "PARROT",
    "PENGUIN",
    "PHOENIX",
    "PIG",
    "PIGMAN",
    "RABBIT",
    "RAT",
    "SALMON",
    "SCATHA",
    "SHEEP",
    "SILVERFISH",
    "SKELETON",
    "SLUG",
    "SNAIL",
    "SPIDER",
    "SPIRIT",
    "SQUID",
    "TARANTULA",
    "TIGER",
    "TURTLE",
    "WOLF",
    "ZOMBIE",
];

/// Words in front, of many uses.
pub(crate) const FRONT_WORDS: &[&str] = &[
    "ANCIENT",
    "AURORA",
    "BLOOD",
    "CORRUPTED",
    "CRIMSON",
    "CRYSTAL",
    "DARK",
    "DIVINE",
    "DWARVEN",
    "FIERY",
    "FROZEN",
    "GLACITE",
    "GOLDEN",
    "HOLLOW",
    "INFERNO",
    "JUNGLE",
    "LUNAR",
    "MYTHIC",
    "NECROTIC",
    "OLD",
    "PRECURSOR",
    "SHADOW",
    "SPIRIT",
    "SUPERIOR",
    "TITANIUM",
    "WITHERED",
];

/// Words behind, for tradable odds and ends.
const TRADE_NOUNS: &[&str] = &[
    "BAIT",
    "BOTTLE",
    "CANDY",
    "CATALYST",
    "CLAW",
    "COOKIE",
    "DUST",
    "EGG",
    "ESSENCE_STONE",
    "FANG",
    "FEATHER",
    "FOSSIL",
    "FRAGMENT",
    "GEAR",
    "HORN",
    "KEY",
    "LENS",
    "MEMBRANE",
    "ORB",
    "PLATE",
    "POWDER",
    "RELIC",
    "SCALE",
    "SHELL",
    "THREAD",
    "TOKEN",
];

/// Gemstones, each in the five [`GEM_QUALITIES`].
const GEMS: &[&str] = &[
    "AMBER",
    "AMETHYST",
    "AQUAMARINE",
    "CITRINE",
    "JADE",
    "JASPER",
    "ONYX",
    "OPAL",
    "PERIDOT",
    "RUBY",
    "SAPPHIRE",
    "TOPAZ",
];

/// From the cheapest to the dearest.
const GEM_QUALITIES: &[&str] = &["ROUGH", "FLAWED", "FINE", "FLAWLESS", "PERFECT"];

/// The kinds of essence.
pub(crate) const ESSENCES: &[&str] =
    &["WITHER", "SPIDER", "UNDEAD", "DRAGON", "GOLD", "DIAMOND", "ICE", "CRIMSON", "FOREST", "MOON"];

/// Armour sets.
pub(crate) const SETS: &[&str] = &[
    "DRAGON", "ASSASSIN", "GUARD", "HUNTER", "LORD", "MINER", "MAGE", "SENTINEL", "SOLDIER", "STORM",
    "TITAN", "WARDEN",
];

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

/// What accessories are of.
pub(crate) const CHARMS: &[&str] =
    &["FEATHER", "CANDY", "WOLF", "SEA", "HASTE", "VACCINE", "GRAVITY", "LUCK"];

/// Furniture for islands.
pub(crate) const FURNITURE: &[&str] = &[
    "BARREL",
    "BENCH",
    "BOOKSHELF",
    "BRAZIER",
    "CHAIR",
    "CLOCK",
    "CRATE",
    "DESK",
    "FLAG",
    "FOUNTAIN",
    "LAMP",
    "LANTERN",
    "PEDESTAL",
    "PLUSHIE",
    "PODIUM",
    "ROCKING_CHAIR",
    "RUG",
    "SHELF",
    "STATUE",
    "STOOL",
    "TABLE",
    "THRONE",
    "TORCH",
    "VASE",
    "WARDROBE",
    "WEAPON_RACK",
];

/// Player names that appear in texts.
pub(crate) const TOWNSFOLK: &[&str] = &[
    "Acornella",
    "Brimley",
    "Cinder_Jo",
    "Dewdrop",
    "Emberlyn",
    "Fennick",
    "Gusty_",
    "Hollowell",
    "Ivyleaf",
];

/// The `n`th small Roman numeral, up to 12.
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
    for enchantment in ENCHANTMENTS {
        ids.extend((1..=6).map(|level| format!("ENCHANTMENT_{enchantment}_{level}")));
    }
    for enchantment in ULTIMATE_ENCHANTMENTS {
        ids.extend((1..=5).map(|level| format!("ENCHANTMENT_ULTIMATE_{enchantment}_{level}")));
    }
    for prefix in ["", "ELDER_", "GLOOM_"] {
        ids.extend(CREATURES.iter().map(|creature| format!("SHARD_{prefix}{creature}")));
    }
    ids.extend(ESSENCES.iter().map(|essence| format!("ESSENCE_{essence}")));
    ids
});

/// The products that are items as well: no enchantments, shards, essences or single letters.
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

/// Cosmetic skins: what fire sales sell.
pub(crate) fn skins() -> impl Iterator<Item = String> {
    CREATURES.iter().flat_map(|creature| {
        ["WHITE", "BLACK", "NEON", "COSMIC"].map(|colour| format!("PET_SKIN_{creature}_{colour}"))
    })
}
