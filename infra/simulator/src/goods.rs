//! The goods that auctions sell: every kind of item that players offer, with its price.

use std::mem;

use fastrand::Rng;

use crate::chance::{base64_text, magnitude, pick, text_hash};
use crate::famous;
use crate::gson;
use crate::item_bytes::Nbt::{self, Byte, Int, Text};
use crate::item_bytes::{Compound, compound};
use crate::words::{
    self, ACCESSORIES, CHARMS, CREATURES, ENCHANTMENTS, ESSENCES, FRONT_WORDS, FURNITURE, PIECES, SETS,
    TOWNSFOLK, ULTIMATE_ENCHANTMENTS, WEAPONS,
};

/// A stack for sale.
pub(crate) struct Goods {
    /// The name without colour codes.
    pub(crate) name: String,
    pub(crate) lore: String,
    pub(crate) material: Material,
    pub(crate) category: &'static str,
    pub(crate) count: i8,
    /// The price of the whole stack, in coins.
    pub(crate) price: f64,
    /// The `ExtraAttributes`, without the UUID and the time of creation.
    attributes: Compound,
    /// Whether the item has a UUID, so that it never stacks.
    pub(crate) is_unique: bool,
    /// The place of the tier in [`TIERS`].
    tier: usize,
}

/// A material of Minecraft: its number, its damage and its name.
type Material = (i16, i16, &'static str);

const SKULL: Material = (397, 3, "Skull Item");

/// Reforges: prefixes that players add to an item's name.
const REFORGES: &[&str] =
    &["Ancient", "Fabled", "Heroic", "Necrotic", "Withered", "Wise", "Spicy", "Renowned"];

const TIERS: &[(&str, &str)] = &[
    ("COMMON", "§f§lCOMMON"),
    ("UNCOMMON", "§a§lUNCOMMON"),
    ("RARE", "§9§lRARE"),
    ("EPIC", "§5§lEPIC"),
    ("LEGENDARY", "§6§lLEGENDARY"),
    ("MYTHIC", "§d§lMYTHIC"),
    // The lore uses another word for this tier.
    ("SUPREME", "§b§lDIVINE"),
    ("SPECIAL", "§c§lSPECIAL"),
    ("VERY_SPECIAL", "§c§lVERY SPECIAL"),
];

/// The place of the highest tier that upgrades reach.
const MYTHIC: usize = 5;

/// Pets whose name does not follow from their type. Only the first has 200 levels.
const ODD_PETS: &[(&str, &str)] = &[("GOLDEN_DRAGON", "Golden Dragon"), ("TYRANNOSAURUS", "T-Rex")];

/// Hats of celebrations, and their years.
const HATS: &[(&str, i32)] = &[
    ("PARTY_HAT_CRAB", 2020),
    ("PARTY_HAT_CRAB_ANIMATED", 2022),
    ("PARTY_HAT_SLOTH", 2023),
    ("BALLOON_HAT_2024", 2024),
    ("BALLOON_HAT_2025", 2025),
    ("CAKE_HAT_2026", 2026),
];

impl Goods {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let front = popular(rng, &FRONT_WORDS);
        let mut goods = match rng.u32(..1_000) {
            0..8 => famous(rng),
            8..320 => armour(rng, front),
            320..470 => {
                let (word, _, _) = popular(rng, WEAPONS);
                Self::item(&format!("{front}_{word}"), (276, 0, "Diamond Sword"), "weapon").improved(rng)
            }
            470..590 => {
                let id = format!("{front}_{}_{}", popular(rng, &CHARMS), pick(rng, ACCESSORIES));
                Self::item(&id, SKULL, "accessories").recombobulated(rng)
            }
            590..740 => pet(rng),
            740..775 => rune(rng),
            775..800 => potion(rng),
            800..830 => Self::item("GOD_POTION_2", SKULL, "consumables").stackable(),
            830..860 => {
                let skin =
                    format!("PET_SKIN_{}_{}", popular(rng, &CREATURES), pick(rng, &["NEON", "COSMIC"]));
                Self::item(&skin, SKULL, "misc")
            }
            860..870 => Self::item("NEW_YEAR_CAKE", (354, 0, "Cake"), "misc")
                .with("new_years_cake", Int(rng.i32(1..=486))),
            870..890 => hat(rng),
            890..897 => {
                let model = pick(rng, &["BLUE_AQUA", "BLUE_GREEN", "BLUE_RED", "REZAR", "SUMSUNG_1"]);
                Self::variant("ABICASE", model, SKULL, "accessories").with("model", Text(model.to_owned()))
            }
            897..904 => {
                let power = pick(rng, &["dominance", "life_regeneration", "mana_pool", "veteran"]);
                let material = (409, 0, "Prismarine Shard");
                Self::variant("ATTRIBUTE_SHARD", power, material, "misc")
                    .with("attributes", compound([(power, Int(1 + rng.i32(0..6) / 5))]))
            }
            904..910 => book(rng),
            910..930 => {
                let ((number, word), damage) =
                    (pick(rng, &[(17, "LOG"), (35, "WOOL"), (44, "STEP")]), rng.i16(1..16));
                Self::item(&format!("{word}:{damage}"), (number, damage, word), "blocks").stackable()
            }
            _ => Self::item(&format!("{front}_{}", popular(rng, &FURNITURE)), SKULL, "blocks").stackable(),
        };
        if !goods.is_unique && rng.u32(..8) == 0 {
            goods.count = rng.i8(2..=64);
        }
        // Most sellers ask for little more than the lowest price, some for many times as much.
        let surplus = if rng.u32(..40) == 0 { 9.0 * rng.f64() } else { rng.f64().powi(3) };
        goods.price *= f64::from(goods.count) * (1.0 + surplus);
        goods.lore = lore(rng, goods.tier().1);
        goods
    }

    /// One item whose price and tier follow from its `id`.
    fn item(id: &str, material: Material, category: &'static str) -> Self {
        Self::variant(id, id, material, category)
    }

    /// One item with the provider's `id`. Its price and tier follow from `key`, so that the lowest price of
    /// an item changes little from minute to minute.
    fn variant(id: &str, key: &str, material: Material, category: &'static str) -> Self {
        let usual = &mut Rng::with_seed(text_hash(key));
        let tier = if usual.u32(..40) == 0 { usual.usize(..TIERS.len()) } else { usual.usize(..=MYTHIC) };
        Self {
            name: words::title(id),
            lore: String::new(),
            material,
            category,
            count: 1,
            price: magnitude(usual, 500.0, 2e8),
            attributes: [(String::from("id"), Text(id.to_owned()))].into(),
            is_unique: true,
            tier,
        }
    }

    fn stackable(self) -> Self {
        Self { is_unique: false, ..self }
    }

    pub(crate) fn with(mut self, name: &str, value: Nbt) -> Self {
        self.attributes.insert(name.to_owned(), value);
        self
    }

    /// One item in eight is recombobulated: one tier higher.
    fn recombobulated(mut self, rng: &mut Rng) -> Self {
        if self.tier >= MYTHIC || rng.u32(..8) > 0 {
            return self;
        }
        self.tier += 1;
        self.price *= 1.5;
        self.with("rarity_upgrades", Int(1))
    }

    /// The item with improvements by its owner: a reforge, stars and so on. Each improvement raises the
    /// price.
    fn improved(self, rng: &mut Rng) -> Self {
        let mut goods = self.recombobulated(rng);
        if rng.u32(..3) == 0 {
            let reforge = pick(rng, REFORGES);
            goods = goods.with("modifier", Text(reforge.to_lowercase()));
            goods.name = format!("{reforge} {}", goods.name);
        }
        if rng.u32(..6) == 0 {
            goods = goods.with("hot_potato_count", Int(rng.i32(1..=15)));
        }
        if rng.u32(..5) == 0 {
            let stars = rng.u8(1..=5);
            goods = goods.with("upgrade_level", Int(stars.into()));
            goods.name = format!("{} {}", goods.name, "✪".repeat(stars.into()));
        }
        if rng.u32(..3) == 0 {
            let count = rng.usize(1..=6);
            goods = goods.with("enchantments", enchantments(rng, count));
        }
        goods.price *= 1.0 + (goods.attributes.len() - 1) as f64 / 10.0;
        goods
    }

    /// The tier, and its line in the lore.
    pub(crate) fn tier(&self) -> (&'static str, &'static str) {
        TIERS.get(self.tier).copied().unwrap_or_default()
    }

    /// Returns the item as NBT, and moves the attributes into it.
    pub(crate) fn encode(&mut self, rng: &mut Rng) -> Nbt {
        let (material, damage, _) = self.material;
        let lore = self.lore.split('\n').map(|line| Text(line.to_owned())).collect();
        let colour: String = self.tier().1.chars().take(2).collect();
        let display = [("Name", Text(colour + &self.name)), ("Lore", Nbt::List(lore))];
        let skull = (self.material == SKULL).then(|| {
            let texture = compound([("Signature", Text(base64_text(rng, 684)))]);
            ("SkullOwner", compound([("textures", Nbt::List(vec![texture]))]))
        });
        let extra = Nbt::Compound(mem::take(&mut self.attributes));
        let tag = [("HideFlags", Int(254)), ("display", compound(display)), ("ExtraAttributes", extra)];
        compound([
            ("id", Nbt::Short(material)),
            ("Count", Byte(self.count)),
            ("Damage", Nbt::Short(damage)),
            ("tag", compound(tag.into_iter().chain(skull))),
        ])
    }
}

/// One entry of `list`; the first entries are many times as likely as the last entries.
fn popular<T: Copy + Default>(rng: &mut Rng, list: &[T]) -> T {
    let bound = rng.usize(..list.len().max(1));
    list.get(rng.usize(..=bound)).copied().unwrap_or_default()
}

fn enchantments(rng: &mut Rng, count: usize) -> Nbt {
    let chosen = rng.choose_multiple(ENCHANTMENTS.iter(), count);
    Nbt::Compound(chosen.into_iter().map(|name| (name.to_lowercase(), Int(rng.i32(1..=6)))).collect())
}

/// An item of the real game. Players improve weapons, but not parts of them.
fn famous(rng: &mut Rng) -> Goods {
    let [hyperion, terminator, void, handle] = &famous::AUCTIONED;
    let (item, material) = match rng.u32(..4) {
        0 => (hyperion, (267, 0, "Iron Sword")),
        1 => (terminator, (261, 0, "Bow")),
        2 => (void, (277, 0, "Diamond Shovel")),
        _ => (handle, (280, 0, "Stick")),
    };
    let mut goods = Goods::item(item.id, material, if item.category.is_some() { "weapon" } else { "misc" });
    item.name.clone_into(&mut goods.name);
    goods.price = item.price;
    goods.tier = TIERS.iter().position(|(tier, _)| *tier == item.tier).unwrap_or_default();
    if item.category.is_some() { goods.improved(rng) } else { goods }
}

fn armour(rng: &mut Rng, front: &str) -> Goods {
    let (piece, _) = pick(rng, PIECES);
    let id = format!("{front}_{}_{piece}", popular(rng, &SETS));
    let mut goods = Goods::item(&id, (299, 0, "Leather Armor"), "armor").improved(rng);
    if rng.u32(..8) > 0 {
        return goods;
    }
    // A drop from a dungeon is up to 50 % better.
    let boost = if rng.u32(..5) == 0 { 50 } else { rng.i32(1..50) };
    goods.price *= if boost == 50 { 4.0 } else { 1.0 };
    goods.with("baseStatBoostPercentage", Int(boost)).with("item_tier", Int(rng.i32(1..=10)))
}

fn pet(rng: &mut Rng) -> Goods {
    let creature = popular(rng, &CREATURES);
    let title = words::title(creature);
    let (kind, title) = if rng.u32(..30) == 0 { pick(rng, ODD_PETS) } else { (creature, title.as_str()) };
    let (tier, highest) = if kind == "GOLDEN_DRAGON" { (4, 200) } else { (rng.usize(..=MYTHIC), 100) };
    let level = match rng.u32(..10) {
        0..4 => 1,
        4..6 => highest,
        _ => rng.i32(1..=highest),
    };
    let grown = (f64::from(level - 1) / 99.0).powi(3);
    let mut goods = Goods::variant("PET", kind, SKULL, "misc");
    goods.price *= 3.0_f64.powf(tier as f64) / 100.0 * (1.0 + 9.0 * grown);
    goods.tier = tier;
    let info = gson::object(256, |info| {
        info.key("type").string(kind);
        info.key("active").boolean(false);
        info.key("exp").double(25_353_230.0 * grown);
        info.key("tier").string(goods.tier().0);
        info.key("hideInfo").boolean(false);
        match rng.u32(..12) {
            // With this held item, the pet has the next tier.
            0 if tier < MYTHIC => {
                info.key("heldItem").string("PET_ITEM_TIER_BOOST");
                goods.tier += 1;
            }
            1..4 => info.key("heldItem").string("PET_ITEM_LUCKY_CLOVER"),
            4 => info.key("skin").string(&format!("{kind}_NEON")),
            5 => info.key("extraData").object(|data| data.key("kills").integer(level.into())),
            _ => {}
        }
        info.key("candyUsed").integer(rng.i64(0..11) / 10 * 10);
    });
    goods.name = format!("[Lvl {level}] {title}");
    goods.with("petInfo", Text(info))
}

fn rune(rng: &mut Rng) -> Goods {
    let is_unique = rng.u32(..8) == 0;
    let (id, name, level) = if is_unique {
        ("UNIQUE_RUNE", pick(rng, &["BLAZING_SUN", "PRIMAL_FEAR", "RAINBOW_CARPET"]), 3)
    } else {
        ("RUNE", pick(rng, &ESSENCES), rng.u8(1..=3))
    };
    let mut goods = Goods::variant(id, &format!("{name};{level}"), SKULL, "misc");
    goods.name = format!("◆ {} Rune {}", words::title(name), words::roman(level.into()));
    goods.is_unique = is_unique;
    goods.with("runes", compound([(name, Int(level.into()))]))
}

fn potion(rng: &mut Rng) -> Goods {
    let effect = pick(rng, &["absorption", "critical", "magic_find", "regeneration", "speed", "spirit"]);
    let level = rng.i32(1..=8);
    let key = format!("{effect};{level}");
    let mut goods = Goods::variant("POTION", &key, (373, 0, "Potion"), "consumables")
        .stackable()
        .with("potion_type", Text(String::from("POTION")));
    if rng.u32(..20) == 0 {
        // A plain potion has no effect and no level.
        return goods;
    }
    if effect == "magic_find" {
        goods = goods.with("potion_name", Text(String::from("Magic Find")));
    }
    if rng.bool() {
        goods = goods.with("enhanced", Byte(1)).with("splash", Byte(0));
    }
    let name = || Text(effect.to_owned());
    let effects = compound([("effect", name()), ("level", Int(level)), ("duration_ticks", Int(4_212))]);
    goods.with("potion", name()).with("potion_level", Int(level)).with("effects", Nbt::List(vec![effects]))
}

fn book(rng: &mut Rng) -> Goods {
    let name = match rng.u32(..4) {
        0 => format!("ultimate_{}", pick(rng, &ULTIMATE_ENCHANTMENTS).to_lowercase()),
        _ => pick(rng, &ENCHANTMENTS).to_lowercase(),
    };
    let level = rng.i32(1..=5);
    let only = compound([(name.as_str(), Int(level))]);
    let content = if rng.u32(..4) == 0 { enchantments(rng, 3) } else { only };
    Goods::variant("ENCHANTED_BOOK", &format!("{name};{level}"), (403, 0, "Enchanted Book"), "misc")
        .with("enchantments", content)
}

fn hat(rng: &mut Rng) -> Goods {
    let (id, year) = pick(rng, HATS);
    let (attribute, value) = if id == "PARTY_HAT_SLOTH" {
        ("party_hat_emoji", pick(rng, &["cute", "grumpy", "happy", "shock"]))
    } else {
        ("party_hat_color", pick(rng, &["aqua", "black", "green", "orange", "pink", "red", "yellow"]))
    };
    let goods = Goods::variant(id, &format!("{id}_{value}"), SKULL, "armor");
    goods.with(attribute, Text(value.to_owned())).with("party_hat_year", Int(year))
}

/// The text under the name: colour codes, glyphs, line breaks.
fn lore(rng: &mut Rng, painted_tier: &str) -> String {
    let stats = [
        ("Health", '\u{e010}', 'a'),
        ("Defense", '\u{e008}', 'a'),
        ("Strength", '\u{e00d}', 'c'),
        ("Crit Chance", '\u{e02c}', 'c'),
        ("Intelligence", '\u{e003}', 'a'),
        ("Mining Fortune", '\u{e053}', '6'),
    ];
    let mut lines = vec![format!("§7Gear Score: §d{}", rng.u32(1..900))];
    let wanted = rng.usize(1..=6);
    for (name, glyph, colour) in rng.choose_multiple(stats, wanted) {
        let value = rng.u32(1..400);
        let share = rng.f64() * 30.0;
        lines.push(format!("§7{name}: §{colour}+{value}{glyph} §8(+{share:.1}%)"));
    }
    lines.push(String::new());
    for _ in 0..rng.u32(0..=3) {
        let enchantment = pick(rng, &["Growth", "Protection", "Sharpness", "Ultimate Wise", "Looting"]);
        lines.push(format!("§9{enchantment} {}", words::roman(rng.usize(1..=7))));
        lines.push(String::from("§7§7Grants §a+15 §c❤ Health §7for as long as"));
        lines.push(String::from("§7you don't take it off."));
    }
    if rng.u32(..3) == 0 {
        lines.push(String::from("\n§6Ability: Blink  §e§lRIGHT CLICK"));
        lines.push(String::from("§7Teleport §a8 blocks §7ahead of you & hit \"all\" <foes>."));
        lines.push(String::from("§8Mana Cost: §350"));
    }
    if rng.u32(..5) == 0 {
        lines.push(format!("\n§7§8Made for §b[MVP§c+§b] {}", pick(rng, &TOWNSFOLK)));
    }
    // Java has a special encoding for characters above U+FFFF.
    if rng.u32(..500) == 0 {
        lines.push(String::from("\n§7Dogs love its §f\u{1f9b4}"));
    }
    lines.push(String::from("\n§8This item can be reforged!"));
    lines.push(painted_tier.to_owned());
    lines.join("\n")
}
