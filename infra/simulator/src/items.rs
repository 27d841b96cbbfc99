//! The items list: about 4,700 items, most of them with few fields.

use fastrand::Rng;

use crate::chance::{self, generator, pick};
use crate::famous::{AUCTIONED, Famous, PRODUCTS};
use crate::gson::{self, Writer};
use crate::words::{
    self, ACCESSORIES, CHARMS, CREATURES, ESSENCES, FRONT_WORDS, FURNITURE, PIECES, SETS, WEAPONS, Words,
    lines,
};

/// Time between two refreshes, in milliseconds.
pub const REFRESH_MS: i64 = 600_000;

/// How many items the game has.
const ITEMS: usize = 4_709;

static TIERS: Words = Words::new(|| lines(include_str!("../words/item_tiers.txt")));

/// Minecraft's materials that come in sixteen colours. Their identifiers contain a colon.
const DYED: &str = "WOOL STAINED_CLAY STAINED_GLASS STAINED_GLASS_PANE CARPET INK_SACK BANNER BED CANDLE CONCRETE \
                     FIREWORK_CHARGE";

/// Returns the `lastUpdated` of the refresh that is visible at `now_ms`, in Unix milliseconds.
#[must_use]
pub fn refreshed_at(now_ms: i64) -> i64 {
    now_ms.div_euclid(REFRESH_MS) * REFRESH_MS
}

/// The body of `/v2/resources/skyblock/items` at `now_ms`.
#[must_use]
pub fn body(seed: u64, now_ms: i64) -> String {
    let refresh = refreshed_at(now_ms);
    gson::object(4 << 20, |root| {
        root.key("success").boolean(true);
        root.key("lastUpdated").integer(refresh);
        root.key("items").array(|list| {
            let famous = PRODUCTS.iter().chain(&AUCTIONED);
            let others = all().take(ITEMS - famous.clone().count());
            for (number, item) in (0..).zip(others) {
                let rng = &mut generator(seed, "item", number);
                list.object(|row| item.write(rng, row));
            }
            for item in famous {
                list.object(|row| write_famous(item, row));
            }
        });
    })
}

struct CatalogueItem {
    id: String,
    material: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Material,
    Minion { tier: usize },
    Gear(&'static str),
    Accessory,
    Skin,
    Furniture,
}

/// The items in the list's order: unsorted, newer ones last.
fn all() -> impl Iterator<Item = CatalogueItem> {
    let gear = FRONT_WORDS.iter().flat_map(|front| {
        let armour = SETS.iter().flat_map(move |set| {
            PIECES.iter().map(move |(piece, material)| (format!("{front}_{set}_{piece}"), *piece, *material))
        });
        let weapons = WEAPONS
            .iter()
            .map(move |(word, category, material)| (format!("{front}_{word}"), *category, *material));
        armour.chain(weapons).map(|(id, category, material)| CatalogueItem {
            id,
            material,
            kind: Kind::Gear(category),
        })
    });
    let skull = |kind| move |id| CatalogueItem { id, material: "SKULL_ITEM", kind };
    let accessories = FRONT_WORDS.iter().flat_map(|front| {
        CHARMS
            .iter()
            .flat_map(move |charm| ACCESSORIES.iter().map(move |size| format!("{front}_{charm}_{size}")))
    });
    let dyed = DYED.split(' ').flat_map(|material| {
        (0..16).map(move |colour| CatalogueItem {
            id: format!("{material}:{colour}"),
            material,
            kind: Kind::Material,
        })
    });
    let minions = CREATURES.iter().flat_map(|creature| {
        (1..=12).map(move |tier| CatalogueItem {
            id: format!("{creature}_GENERATOR_{tier}"),
            material: "SKULL_ITEM",
            kind: Kind::Minion { tier },
        })
    });
    // The list lags behind the bazaar: newer products are missing. Dyed ink is already above.
    let traded = words::tradable_items()
        .filter(|id| !id.starts_with("INK_SACK:") && !id.starts_with("WITHERED_"))
        .map(|id| CatalogueItem { id, material: "PAPER", kind: Kind::Material });
    let furniture = ["OAK", "BIRCH", "SPRUCE", "ROYAL", "RUSTIC", "PIRATE", "FESTIVE", "WITCH"]
        .iter()
        .flat_map(|style| FURNITURE.iter().map(move |noun| format!("{style}_{noun}")));
    dyed.chain(traded)
        .chain(minions)
        .chain(gear)
        .chain(accessories.map(skull(Kind::Accessory)))
        .chain(words::skins().map(skull(Kind::Skin)))
        .chain(furniture.map(skull(Kind::Furniture)))
        .chain((1..).map(move |number| skull(Kind::Furniture)(format!("ANNIVERSARY_PODIUM_{number}"))))
}

impl CatalogueItem {
    fn write(&self, rng: &mut Rng, row: &mut Writer) {
        let is_gear = matches!(self.kind, Kind::Gear(_));
        row.key("material").string(self.material);
        if self.material == "SKULL_ITEM" {
            row.key("durability").integer(3);
            write_skin(rng, row);
        } else if let Some((_, colour)) = self.id.split_once(':') {
            row.key("durability").integer(colour.parse().unwrap_or_default());
        }
        if self.material.starts_with("LEATHER_") {
            row.key("color").string(&format!("{},{},{}", rng.u8(..), rng.u8(..), rng.u8(..)));
        }
        row.key("name").string(&self.name(rng));
        match self.kind {
            Kind::Minion { tier } => {
                row.key("generator").string(self.id.split("_GENERATOR").next().unwrap_or_default());
                row.key("generator_tier").integer(i64::try_from(tier).unwrap_or_default());
            }
            Kind::Gear(category) => row.key("category").string(category),
            Kind::Accessory => row.key("category").string("ACCESSORY"),
            Kind::Skin => row.key("category").string("COSMETIC"),
            Kind::Furniture => row.key("furniture").string(&self.id),
            Kind::Material => {}
        }
        if rng.u32(..100) >= 18 {
            row.key("tier").string(pick(rng, &TIERS));
        }
        if rng.u32(..8) == 0 {
            row.key("glowing").boolean(true);
        }
        if is_gear && rng.u32(..10) < 7 || self.kind == Kind::Accessory && rng.bool() {
            row.key("stats").object(|stats| write_stats(rng, stats));
        }
        if rng.u32(..100) < 43 {
            write_npc_price(rng, row);
        }
        if is_gear && rng.bool() {
            write_requirements(rng, row);
        }
        if is_gear && rng.u32(..10) < 3 {
            write_dungeon_gear(rng, row);
        }
        if rng.u32(..12) == 0 {
            row.key("unstackable").boolean(true);
            row.key("soulbound").string(if rng.bool() { "COOP" } else { "SOLO" });
        }
        if rng.u32(..21) == 0 {
            row.key("description").string("%%gray%%The baker's own: §dnever §7eat = never hungry.");
        }
        if rng.u32(..28) == 0 {
            row.key("origin").string("RIFT");
        }
        if rng.u32(..1_500) == 0 {
            row.key("MINING_FORTUNE").integer(5);
        }
        row.key("id").string(&self.id);
    }

    fn name(&self, rng: &mut Rng) -> String {
        if let Kind::Minion { tier } = self.kind {
            let creature = self.id.split("_GENERATOR").next().unwrap_or_default();
            return format!("{} Minion {}", words::title(creature), words::roman(tier));
        }
        if self.id == "INK_SACK:3" {
            return "Cocoa Beans".to_owned();
        }
        // Names are not unique, and some have colour codes or special characters.
        let title = words::title(self.id.split(':').next().unwrap_or_default());
        match rng.u32(..80) {
            0 => format!("§f{title}"),
            1 => format!("%%green%%{title}"),
            2 => format!("{title}™"),
            3 => format!("Pâtissier's {title} é"),
            _ => title,
        }
    }
}

/// Writes an item of the real game, without the fields that do not matter to prices.
fn write_famous(item: &Famous, row: &mut Writer) {
    row.key("material").string(item.material);
    row.key("name").string(item.name);
    if let Some(category) = item.category {
        row.key("category").string(category);
    }
    row.key("tier").string(item.tier);
    if let Some(price) = item.npc_price {
        row.key("npc_sell_price").integer(price);
    }
    row.key("id").string(item.id);
}

fn write_skin(rng: &mut Rng, row: &mut Writer) {
    use base64::Engine;
    let texture = chance::hexadecimal(rng, 32) + &chance::hexadecimal(rng, 32);
    let profile = chance::uuid(rng);
    let json = format!(
        "{{\n  \"timestamp\" : {},\n  \"profileId\" : \"{profile}\",\n  \"profileName\" : \"{}\",\n  \
         \"signatureRequired\" : true,\n  \"textures\" : {{\n    \"SKIN\" : {{\n      \
         \"url\" : \"http://textures.minecraft.net/texture/{texture}\"\n    }}\n  }}\n}}",
        rng.i64(1_500_000_000_000..1_760_000_000_000),
        pick(rng, &words::TOWNSFOLK),
    );
    let value = base64::engine::general_purpose::STANDARD.encode(json);
    row.key("skin").object(|skin| {
        skin.key("value").string(&value);
        if rng.u32(..4) == 0 {
            skin.key("signature").string(&chance::base64_text(rng, 684));
        }
    });
}

fn write_stats(rng: &mut Rng, stats: &mut Writer) {
    let known = "DEFENSE HEALTH STRENGTH INTELLIGENCE CRITICAL_DAMAGE WALK_SPEED SEA_CREATURE_CHANCE sea_creature_chance \
                 foraging_fortune";
    let wanted = rng.usize(1..=5);
    for name in rng.choose_multiple(known.split(' '), wanted) {
        stats.key(name);
        match rng.u32(..60) {
            0 => stats.integer(-rng.i64(1..100)),
            1 => stats.double(f64::from(rng.u32(1..30)) / 4.0),
            2 => stats.integer(99_999_999),
            _ => stats.integer(rng.i64(1..300)),
        }
    }
}

fn write_npc_price(rng: &mut Rng, row: &mut Writer) {
    row.key("npc_sell_price");
    match rng.u32(..70) {
        0 => row.double(pick(rng, &[0.3, 0.5, 0.75])),
        1 => row.integer(0),
        2 => row.integer(1_000_000_000),
        3 => row.double(6e7),
        _ => row.integer(chance::magnitude(rng, 1.0, 1e6) as i64),
    }
}

fn write_requirements(rng: &mut Rng, row: &mut Writer) {
    let skill = pick(rng, &["COMBAT", "MINING", "FARMING"]);
    let level = rng.i64(1..40);
    let requirement = |requirement: &mut Writer| {
        requirement.key("type").string("SKILL");
        requirement.key("skill").string(skill);
        requirement.key("level").integer(level);
    };
    row.key("requirements").array(|list| list.object(requirement));
}

fn write_dungeon_gear(rng: &mut Rng, row: &mut Writer) {
    let essence = pick(rng, &ESSENCES);
    row.key("upgrade_costs").array(|stars| {
        for star in 1..=5 {
            stars.array(|costs| {
                costs.object(|cost| {
                    cost.key("type").string("ESSENCE");
                    cost.key("essence_type").string(essence);
                    cost.key("amount").integer(star * 20);
                });
            });
        }
    });
    row.key("gear_score").integer(rng.i64(1..800));
    row.key("gemstone_slots").array(|slots| {
        slots.object(|slot| slot.key("slot_type").string("COMBAT"));
    });
    row.key("museum_data").object(|museum| {
        museum.key("type").string("ARMOR_SETS");
        museum.key("parent").object(|_| {});
        museum.key("game_stage").string("INTERMEDIATE");
    });
    row.key("dungeon_item").boolean(true);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_list_is_as_long_and_as_sparse_as_the_real_one() {
        let text = body(1, 1_790_000_000_000);
        assert!((1_800_000..3_600_000).contains(&text.len()), "{} bytes", text.len());
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let items = parsed["items"].as_array().unwrap();
        assert_eq!(items.len(), 4_709);
        let ids: HashSet<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), items.len(), "identifiers are unique");
        assert!(ids.iter().filter(|id| id.contains(':')).count() >= 170);
        for (id, name) in [("HYPERION", "Hyperion"), ("NECRON_HANDLE", "Necron's Handle")] {
            assert!(items.iter().any(|item| item["id"] == id && item["name"] == name), "{id}");
        }
        let without = |key: &str| items.iter().filter(|item| item.get(key).is_none()).count();
        assert_eq!(without("material") + without("name"), 0);
        assert!((750..950).contains(&without("tier")), "{} without tier", without("tier"));
        assert!((1_800..3_000).contains(&without("category")), "{} without category", without("category"));
        assert!(
            text.contains("%%green%%")
                && text.contains('§')
                && text.contains("6.0E7")
                && text.contains("\\u0027")
        );
    }
}
