//! The goods that auctions sell.

use fastrand::Rng;

use crate::chance::pick;
use crate::words::{self, ACCESSORIES, CHARMS, CREATURES, FRONT_WORDS, PIECES, SETS, TOWNSFOLK, WEAPONS};

/// An item for sale.
pub(crate) struct Goods {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) lore: String,
    pub(crate) extra: &'static str,
    pub(crate) category: &'static str,
    pub(crate) tier: &'static str,
}

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
    // The lore has another word for this one.
    ("SUPREME", "§b§lDIVINE"),
    ("SPECIAL", "§c§lSPECIAL"),
    ("VERY_SPECIAL", "§c§lVERY SPECIAL"),
];

impl Goods {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let front = pick(rng, FRONT_WORDS);
        let (tier, painted_tier) =
            if rng.u32(..40) == 0 { pick(rng, TIERS) } else { pick(rng, TIERS.get(..6).unwrap_or(TIERS)) };
        let (id, category, extra) = match rng.u32(..100) {
            0..40 => {
                let (piece, _) = pick(rng, PIECES);
                (format!("{front}_{}_{piece}", pick(rng, SETS)), "armor", "Leather Armor")
            }
            40..60 => {
                let (word, _, _) = pick(rng, WEAPONS);
                (format!("{front}_{word}"), "weapon", "Diamond Sword")
            }
            60..75 => (
                format!("{front}_{}_{}", pick(rng, CHARMS), pick(rng, ACCESSORIES)),
                "accessories",
                "Skull Item",
            ),
            75..90 => (format!("PET_{}", pick(rng, CREATURES)), "misc", "Skull Item"),
            90..95 => (String::from("GOD_POTION_2"), "consumables", "Potion"),
            _ => (format!("{front}_BARREL"), "blocks", "Skull Item"),
        };
        let title = words::title(id.strip_prefix("PET_").unwrap_or(&id));
        let name = match rng.u32(..10) {
            _ if id.starts_with("PET_") => format!("[Lvl {}] {title}", rng.u32(1..=100)),
            _ if id.starts_with("GOD") => String::from("God Potion"),
            0..3 => format!("{} {title} {}", pick(rng, REFORGES), "✪".repeat(rng.usize(1..=5))),
            3 => format!("⚚ {} {title} ✪✪✪✪✪➌", pick(rng, REFORGES)),
            4 => format!("◆ {title}"),
            5 => format!("{}'s {title}", pick(rng, TOWNSFOLK)),
            _ => title,
        };
        let lore = lore(rng, painted_tier);
        Self { id, name, lore, extra, category, tier }
    }
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
        let (value, share) = (rng.u32(1..400), rng.f64() * 30.0);
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
        lines.push(format!("\n§7§8Made for §b[MVP§c+§b] {}", pick(rng, TOWNSFOLK)));
    }
    lines.push(String::from("\n§8This item can be reforged!"));
    lines.push(painted_tier.to_owned());
    lines.join("\n")
}
