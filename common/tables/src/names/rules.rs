//! The rules that name an item: the catalogue's name, and otherwise a name that follows from the id.
//!
//! `exceptions.tsv` has the names that do not follow: per line an id, or an id without its level, and the
//! name. It precedes the catalogue. `aliases.tsv` has the short forms that players type: per line the
//! beginning of ids, and their aliases.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::list::{Kind, Market, Name};

const EXCEPTIONS: &str = include_str!("exceptions.tsv");
const ALIASES: &str = include_str!("aliases.tsv");

/// Words in lower case inside a name.
const SMALL: [&str; 9] = ["a", "an", "and", "for", "in", "of", "on", "the", "to"];

/// The tiers of pets by the number in their ids.
const TIERS: [&str; 6] = ["Common", "Uncommon", "Rare", "Epic", "Legendary", "Mythic"];

/// Items whose ids in auctions end with a color or model.
const COLORED: [&str; 5] = ["ABICASE", "BALLOON_HAT_20", "CAKE_HAT_20", "PARTY_HAT_CRAB", "PARTY_HAT_SLOTH"];

/// Returns the lines of a table in two columns.
fn table(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines().filter_map(|line| line.split_once('\t'))
}

/// Returns a text from the game without color codes (`§a`, `%%green%%`), glyphs of the game's font, and
/// invisible characters.
#[must_use]
pub fn plain(text: &str) -> String {
    let is_color = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    // Every other part is between two `%%`, and is the name of a color.
    let parts = text.split("%%").enumerate().filter(|(number, part)| number % 2 == 0 || !is_color(part));
    let mut plain = String::new();
    let parts = parts.map(|(_, part)| part).collect::<String>();
    let mut characters = parts.chars();
    while let Some(character) = characters.next() {
        match character {
            '§' => drop(characters.next()),
            '\u{e000}'..='\u{f8ff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' => {}
            character if character.is_control() => plain.push(' '),
            character => plain.push(character),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a level in Roman numerals, or unchanged if it is not between 1 and 39.
fn roman(level: &str) -> String {
    let Some(mut rest) = level.parse::<usize>().ok().filter(|level| (1..40).contains(level)) else {
        return level.to_owned();
    };
    let mut text = String::new();
    for (value, letters) in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")] {
        text.push_str(&letters.repeat(rest / value));
        rest %= value;
    }
    text
}

/// Returns the words of an id as a title: `EYE_OF_ENDER` is `Eye of Ender`.
fn title(id: &str) -> String {
    let mut words = Vec::new();
    for word in id.split(['_', ':', '-', ';']).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase) {
        let is_small = !words.is_empty() && SMALL.contains(&word.as_str());
        let capitals = if word == "xp" { 2 } else { usize::from(!is_small) };
        let (first, rest) = word.split_at_checked(capitals).unwrap_or((&word, ""));
        words.push(first.to_ascii_uppercase() + rest);
    }
    words.join(" ")
}

struct Rules<'a> {
    exceptions: HashMap<&'static str, &'static str>,
    /// Names by the provider's id.
    catalogue: &'a BTreeMap<String, String>,
    /// The enchantments of books in the bazaar.
    books: BTreeSet<&'a str>,
    /// The kinds of pets in auctions, in the order of their ids.
    pets: BTreeSet<&'a str>,
}

impl Rules<'_> {
    /// Returns the name in the exceptions or else the catalogue, which has empty names.
    fn known(&self, id: &str) -> Option<String> {
        let exception = self.exceptions.get(id).map(|name| (*name).to_owned());
        exception.or_else(|| {
            let name = self.catalogue.get(id).filter(|name| !name.is_empty())?;
            Some(if id.starts_with("PET_SKIN_") { skin(name) } else { name.clone() })
        })
    }

    /// Returns the name of a pet, rune, potion or attribute. The catalogue's item with the same id is another
    /// one, such as the raw rabbit.
    fn leveled(&self, id: &str, words: &str) -> String {
        self.exceptions.get(id).map_or_else(|| title(words), |name| (*name).to_owned())
    }

    /// Returns the game's name of an enchantment, such as `ULTIMATE_WISE`. Only Wise and Jerry are called
    /// "Ultimate".
    fn enchantment(&self, id: &str) -> String {
        let exception = self.exceptions.get(format!("ENCHANTMENT_{id}").as_str());
        exception.map_or_else(
            || match (id, id.strip_prefix("ULTIMATE_"), id.strip_prefix("TURBO_")) {
                ("ULTIMATE_WISE" | "ULTIMATE_JERRY", ..) | (_, None, None) => title(id),
                (_, Some(ultimate), _) => title(ultimate),
                (_, _, Some(crop)) => format!("Turbo-{}", title(crop)),
            },
            |name| (*name).to_owned(),
        )
    }

    /// Returns the kind and the name of an item in the bazaar.
    fn in_bazaar(&self, id: &str) -> (Kind, String) {
        let (kind, name) = match id.split_once('_') {
            Some(("ENCHANTMENT", book)) => {
                let (enchantment, level) = book.rsplit_once('_').unwrap_or((book, ""));
                (Kind::Enchantment, format!("{} {}", self.enchantment(enchantment), roman(level)))
            }
            Some(("SHARD", of)) => (Kind::Shard, format!("{} Shard", title(of))),
            Some(("ESSENCE", of)) => (Kind::Essence, format!("{} Essence", title(of))),
            _ => return (Kind::Item, self.item(id)),
        };
        (kind, self.known(id).unwrap_or(name))
    }

    /// Returns the kind and the name of an item in auctions.
    fn in_auctions(&self, id: &str) -> (Kind, String) {
        let (id, variant) = id.split_once('+').map_or((id, None), |(id, variant)| (id, Some(variant)));
        if let Some((base, level)) = id.split_once(';') {
            return self.with_level(base, level, variant);
        }
        // Minecraft's own items have variants: the catalogue calls `LOG-2` `LOG:2`.
        let name = self.known(&id.replace('-', ":")).unwrap_or_else(|| self.item(id));
        match variant {
            Some(year) if year.parse::<u32>().is_ok() => (Kind::Item, format!("{name} (Year {year})")),
            Some(variant) => (Kind::Item, format!("{name} ({})", title(variant))),
            None if id.starts_with("POTION_") || id == "WATER_BOTTLE" => (Kind::Potion, name),
            None => (Kind::Item, name),
        }
    }

    fn with_level(&self, base: &str, level: &str, variant: Option<&str>) -> (Kind, String) {
        if let Some(potion) = base.strip_prefix("POTION_") {
            return (Kind::Potion, format!("{} {} Potion", self.leveled(base, potion), roman(level)));
        }
        if let Some(attribute) = base.strip_prefix("ATTRIBUTE_SHARD_") {
            let name = self.leveled(base, attribute);
            return (Kind::Shard, format!("{name} Attribute Shard {}", roman(level)));
        }
        if base.ends_with("_RUNE") {
            return (Kind::Rune, format!("{} {}", self.leveled(base, base), roman(level)));
        }
        let tier = level.parse().ok().and_then(|level: usize| TIERS.get(level));
        let is_book = base.starts_with("ULTIMATE_") || self.books.contains(base);
        match tier {
            Some(tier) if !is_book => {
                let level = variant.map(|level| format!(", level {level}")).unwrap_or_default();
                (Kind::Pet, format!("{} ({tier}{level})", self.leveled(base, base)))
            }
            _ => (Kind::Enchantment, format!("{} {}", self.enchantment(base), roman(level))),
        }
    }

    /// Returns the name of an item without a level.
    fn item(&self, id: &str) -> String {
        self.known(id).unwrap_or_else(|| {
            if let Some(skin) = id.strip_prefix("PET_SKIN_") {
                return self.pet_skin(skin);
            }
            if let Some((base, color)) = COLORED.iter().find_map(|base| colored(id, base)) {
                return format!("{} {}", title(color), self.item(&base));
            }
            for (begin, kind) in [("DYE_", "Dye"), ("VINYL_", "Vinyl"), ("POTION_", "Potion")] {
                if let Some(rest) = id.strip_prefix(begin) {
                    return format!("{} {kind}", title(rest));
                }
            }
            if let Some(minion) = id.strip_suffix("_PERSONALITY") {
                return format!("{} Minion Skin", title(minion));
            }
            let with_level =
                |minion: &str| minion.rsplit_once('_').map(|(of, level)| (title(of), roman(level)));
            if let Some((of, level)) = id.strip_prefix("GENERATOR_UPGRADE_STONE_").and_then(with_level) {
                return format!("{of} Minion {level} Upgrade Stone");
            }
            match id.split_once("_GENERATOR_") {
                Some((of, level)) => format!("{} Minion {}", title(of), roman(level)),
                None => title(id),
            }
        })
    }

    /// Returns the name of `PET_SKIN_ELEPHANT_WHITE_PLUSHIE`: `White Plushie Elephant Skin`. `skin` is the id
    /// without its beginning.
    fn pet_skin(&self, skin: &str) -> String {
        let rest =
            |pet: &&str| skin.strip_prefix(*pet)?.strip_prefix('_').map(|rest| (title(pet), title(rest)));
        match self.pets.iter().rev().find_map(rest) {
            Some((pet, rest)) => format!("{rest} {pet} Skin"),
            None => format!("{} Skin", title(skin)),
        }
    }
}

/// Returns the id of the item without its color, and the color.
fn colored<'a>(id: &'a str, begin: &str) -> Option<(String, &'a str)> {
    let rest = id.strip_prefix(begin)?;
    let color = rest.trim_start_matches(|character: char| character.is_ascii_digit()).strip_prefix('_')?;
    let base = id.strip_suffix(color)?.strip_suffix('_')?;
    Some(match color.strip_suffix("_ANIMATED") {
        Some(color) => (format!("{base}_ANIMATED"), color),
        None => (base.to_owned(), color),
    })
}

/// Returns the name of a pet's skin. In the catalogue, many lack a blank and the word: `TwilightTiger` is
/// `Twilight Tiger Skin`.
fn skin(name: &str) -> String {
    let mut skin = String::new();
    for character in name.chars() {
        if character.is_uppercase() && skin.ends_with(char::is_lowercase) {
            skin.push(' ');
        }
        skin.push(character);
    }
    if skin.ends_with(" Skin") { skin } else { skin + " Skin" }
}

/// Returns the id that an item of the bazaar has in auctions: `GROWTH;5` for `ENCHANTMENT_GROWTH_5`, and
/// `LOG-2` for `LOG:2`.
fn auction_id(id: &str) -> String {
    let book = id.strip_prefix("ENCHANTMENT_").and_then(|book| book.rsplit_once('_'));
    book.map_or_else(|| id.replace(':', "-"), |(enchantment, level)| format!("{enchantment};{level}"))
}

/// Returns the names of the items with these ids in the bazaar and in auctions, sorted by id. `catalogue` has
/// names by the provider's id, without color codes.
#[must_use]
pub fn names_of(
    bazaar: &BTreeSet<String>,
    auctions: &BTreeSet<String>,
    catalogue: &BTreeMap<String, String>,
) -> Vec<Name> {
    let book = |id: &'_ str| Some(id.strip_prefix("ENCHANTMENT_")?.rsplit_once('_')?.0.len());
    let books: BTreeSet<_> = bazaar.iter().filter_map(|id| id.get(12..12 + book(id)?)).collect();
    let pet = |id: &&str| !(books.contains(id) || id.contains("_RUNE") || id.contains("SHARD"));
    let pets =
        auctions.iter().filter_map(|id| id.split_once(';')).map(|(base, _)| base).filter(pet).collect();
    let rules = Rules { exceptions: table(EXCEPTIONS).collect(), catalogue, books, pets };
    let products: HashMap<_, _> = bazaar.iter().map(|id| (auction_id(id), id)).collect();
    let aliases = |id: &str, other: &str| {
        let fits = |id: &str, of: &str| id == of || of.ends_with([';', '_']) && id.starts_with(of);
        let lines = table(ALIASES).filter(|(of, _)| fits(id, of) || fits(other, of));
        let aliases = lines.flat_map(|(_, aliases)| aliases.split(' '));
        aliases.map(str::to_owned).collect::<Vec<_>>()
    };
    let of_bazaar = bazaar.iter().map(|id| {
        let other = auction_id(id);
        let (kind, name) = rules.in_bazaar(id);
        let aliases = aliases(id, &other);
        let other_id = (other != *id || auctions.contains(&other)).then_some(other);
        Name { id: id.clone(), name, market: Market::Bazaar, kind, other_id, aliases }
    });
    let of_auctions = auctions.iter().map(|id| {
        let product = products.get(id).copied();
        let (kind, name) = product.map_or_else(|| rules.in_auctions(id), |product| rules.in_bazaar(product));
        let aliases = aliases(id, product.unwrap_or(id));
        Name { id: id.clone(), name, market: Market::Auctions, kind, other_id: product.cloned(), aliases }
    });
    let mut names: Vec<_> = of_bazaar.chain(of_auctions).collect();
    names.sort_by(|one, other| one.id.cmp(&other.id));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOGUE: [(&str, &str); 8] = [
        ("INK_SACK:3", "Cocoa Beans"),
        ("LOG:2", "Birch Log"),
        ("GLACITE_BOOTS", "Ice Boots"),
        ("PARTY_HAT_CRAB", "Crab Hat of Celebration"),
        ("PARTY_HAT_CRAB_ANIMATED", "Crab Hat of Celebration - 2022 Edition"),
        ("PET_SKIN_TIGER_TWILIGHT", "TwilightTiger"),
        ("RABBIT", "Raw Rabbit"),
        ("LAVA_EGG", ""),
    ];

    /// Per line: a product of the bazaar, its kind and name, its id in auctions, and its aliases.
    const IN_BAZAAR: &str = "
ENCHANTMENT_FIRE_PROTECTION_2 enchantment=Fire Protection II=FIRE_PROTECTION;2
ENCHANTMENT_ULTIMATE_WISE_5 enchantment=Ultimate Wise V=ULTIMATE_WISE;5=uw
ENCHANTMENT_ULTIMATE_JERRY_1 enchantment=Ultimate Jerry I=ULTIMATE_JERRY;1
ENCHANTMENT_ULTIMATE_GARROTE_4 enchantment=Garrote IV=ULTIMATE_GARROTE;4
ENCHANTMENT_ULTIMATE_BANK_5 enchantment=Bank V=ULTIMATE_BANK;5
ENCHANTMENT_ULTIMATE_REITERATE_5 enchantment=Duplex V=ULTIMATE_REITERATE;5
ENCHANTMENT_ULTIMATE_ONE_FOR_ALL_0 enchantment=One For All 0=ULTIMATE_ONE_FOR_ALL;0=ofa
ENCHANTMENT_TURBO_WARTS_1 enchantment=Turbo-Warts I=TURBO_WARTS;1
ENCHANTMENT_TURBO_CACTUS_1 enchantment=Turbo-Cacti I=TURBO_CACTUS;1
ENCHANTMENT_BANE_OF_ARTHROPODS_6 enchantment=Bane of Arthropods VI=BANE_OF_ARTHROPODS;6
ENCHANTMENT_EFFICIENCY_10 enchantment=Efficiency X=EFFICIENCY;10
ENCHANTMENT_GROWTH_5 enchantment=Growth V=GROWTH;5
ESSENCE_WITHER essence=Wither Essence
SHARD_KING_COBRA shard=King Cobra Shard
SHARD_SEA_ARCHER shard=Bogged Shard
INK_SACK:3 item=Cocoa Beans=INK_SACK-3=cocoa
LOG:2 item=Birch Log=LOG-2
LAVA_EGG item=Lava Egg
ULTIMATE_CARROT_CANDY item=Ultimate Carrot Candy==ucc
ULTIMATE_CARROT_CANDY_UPGRADE item=Ultimate Carrot Candy Upgrade
X item=X";

    /// The same for items in auctions.
    const IN_AUCTIONS: &str = "
GOLDEN_DRAGON;4 pet=Golden Dragon (Legendary)==gdrag
GOLDEN_DRAGON;5+200 pet=Golden Dragon (Mythic, level 200)==gdrag
TYRANNOSAURUS;4 pet=T-Rex (Legendary)
RABBIT;0 pet=Rabbit (Common)
ELEPHANT;0 pet=Elephant (Common)
GROWTH;5 enchantment=Growth V=ENCHANTMENT_GROWTH_5
GROWTH;4 enchantment=Growth IV
GROWTH;7 enchantment=Growth VII
ULTIMATE_REITERATE;4 enchantment=Duplex IV
ICE_RUNE;1 rune=Ice Rune I
DRAGON_RUNE;2 rune=End Rune II
POTION_FARMING_XP_BOOST;3 potion=Farming XP Boost III Potion
POTION_AWKWARD potion=Awkward Potion
WATER_BOTTLE potion=Water Bottle
ATTRIBUTE_SHARD_TROPHY_HUNTER;2 shard=Trophy Hunter Attribute Shard II
GLACITE_BOOTS+PERFECT item=Ice Boots (Perfect)
NEW_YEAR_CAKE+486 item=New Year Cake (Year 486)
PARTY_HAT_CRAB_PINK item=Pink Crab Hat of Celebration
PARTY_HAT_CRAB_RED_ANIMATED item=Red Crab Hat of Celebration - 2022 Edition
BALLOON_HAT_2024_BLACK item=Black Balloon Hat 2024
BALLOON_HAT_2024 item=Balloon Hat 2024
ABICASE_REZAR item=Rezar® Abicase
ABICASE_BLUE_GREEN item=Blue Green Abicase
PET_SKIN_ELEPHANT_WHITE_PLUSHIE item=White Plushie Elephant Skin
PET_SKIN_TIGER_TWILIGHT item=Twilight Tiger Skin
PET_SKIN_SNOWBALL_SPIRIT item=Snowball Spirit Skin
DYE_PURE_BLACK item=Pure Black Dye
VINYL_IMAGINE_DRAGONFLIES item=Imagine Dragonflies Vinyl
SEAL_PERSONALITY item=Seal Minion Skin
SUNFLOWER_GENERATOR_11 item=Sunflower Minion XI
GENERATOR_UPGRADE_STONE_CLAY_12 item=Clay Minion XII Upgrade Stone
LOG-2 item=Birch Log=LOG:2
GOD_POTION_2 item=God Potion 2==godpot
HYPERION item=Hyperion==hyp";

    fn named(market: Market, lines: &str, names: &[Name]) {
        for line in lines.trim().lines() {
            let (id, rest) = line.split_once(' ').unwrap();
            let name = names.iter().find(|name| name.id == id && name.market == market).unwrap();
            let kind = format!("{:?}", name.kind).to_lowercase();
            let other = name.other_id.clone().unwrap_or_default();
            let found = [kind, name.name.clone(), other, name.aliases.join(" ")].join("=");
            assert_eq!(found.trim_end_matches('='), rest, "{id}");
        }
    }

    #[test]
    fn every_kind_of_item_has_the_name_that_the_game_shows() {
        let catalogue = CATALOGUE.map(|(id, name)| (id.to_owned(), name.to_owned())).into();
        let ids = |lines: &str| {
            lines.trim().lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
        };
        let names = names_of(&ids(IN_BAZAAR), &ids(IN_AUCTIONS), &catalogue);
        named(Market::Bazaar, IN_BAZAAR, &names);
        named(Market::Auctions, IN_AUCTIONS, &names);
        assert!(names.is_sorted_by(|one, other| one.id <= other.id));
    }

    #[test]
    fn an_id_of_both_markets_is_listed_for_each() {
        let ids = ["BOOSTER_COOKIE".to_owned()].into();
        let names = names_of(&ids, &ids, &BTreeMap::new());
        let found: Vec<_> = names.iter().map(|name| (name.market, name.other_id.as_deref())).collect();
        assert_eq!(
            found,
            [(Market::Bazaar, Some("BOOSTER_COOKIE")), (Market::Auctions, Some("BOOSTER_COOKIE"))]
        );
    }

    #[test]
    fn names_have_no_color_codes_and_glyphs() {
        for (text, expected) in [
            ("§aGreen §lGoblin Egg", "Green Goblin Egg"),
            ("%%red%%Volcanic Rock", "Volcanic Rock"),
            ("%%green%%Swappable Preview %%gray%%(Click)", "Swappable Preview (Click)"),
            ("\u{e001} Coal\u{200b}\n", "Coal"),
            ("stick\u{202e}", "stick"),
            ("100% Pure", "100% Pure"),
            ("§", ""),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn the_tables_are_sorted_and_have_two_columns() {
        for text in [EXCEPTIONS, ALIASES] {
            assert_eq!(table(text).count(), text.lines().count());
            assert!(text.lines().is_sorted_by(|one, other| one < other));
        }
    }
}
