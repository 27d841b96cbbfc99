//! The names of ids, compared with the names of real items in auctions, and counted for all known ids.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::time::UnixSeconds;
use fastnbt::Value as Nbt;
use record_auctions::item::{Buffers, read};
use serde_json::Value as Json;
use tables::names::{Kind, Name, Names, names_of, plain};

fn capture(name: &str) -> Json {
    serde_json::from_str(&captures::text(name).unwrap()).unwrap()
}

/// The names in the provider's catalogue by id.
fn catalogue() -> BTreeMap<String, String> {
    let catalogue = capture(&captures::newest("items").unwrap());
    let text = |item: &Json, field: &str| item[field].as_str().unwrap().to_owned();
    let named = |item: &Json| (text(item, "id"), plain(&text(item, "name")));
    catalogue["items"].as_array().unwrap().iter().map(named).collect()
}

/// The ids of the bazaar.
fn products() -> BTreeSet<String> {
    let bazaar = capture(&captures::newest("bazaar").unwrap());
    bazaar["products"].as_object().unwrap().keys().cloned().collect()
}

/// The ids of the table of all known items in auctions.
fn known_ids() -> BTreeSet<String> {
    let table = capture("../../auctions/neu-ids.json");
    table.as_array().unwrap().iter().map(|row| row["internalname"].as_str().unwrap().to_owned()).collect()
}

/// The names that the game shows for each id, with reforges.
fn shown() -> BTreeMap<String, BTreeSet<String>> {
    let mut shown = BTreeMap::<_, BTreeSet<_>>::new();
    for folder in ["auctions", "auctions_ended"] {
        for file in captures::folder().unwrap().join(folder).read_dir().unwrap() {
            let list: Json = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
            for auction in list["auctions"].as_array().unwrap() {
                let text = auction["item_bytes"].as_str().unwrap();
                let Ok(item) = read(text, &mut Buffers::default()) else { continue };
                let mut nbt = Vec::new();
                flate2::read::GzDecoder::new(&STANDARD.decode(text).unwrap()[..])
                    .read_to_end(&mut nbt)
                    .unwrap();
                let name = name_in(&fastnbt::from_bytes(&nbt).unwrap());
                for id in [Some(item.id), item.also].into_iter().flatten() {
                    shown.entry(id.as_str().to_owned()).or_default().insert(name.clone());
                }
            }
        }
    }
    shown
}

fn get<'a>(nbt: &'a Nbt, path: &[&str]) -> Option<&'a Nbt> {
    path.iter().try_fold(nbt, |nbt, name| match nbt {
        Nbt::Compound(compound) => compound.get(*name),
        _ => None,
    })
}

fn without_glyphs(name: &str) -> String {
    let is_glyph = |character: char| !character.is_ascii() && !character.is_alphabetic() && character != '®';
    name.replace(is_glyph, " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of an item without color, stars, glyphs and level. The name of an attribute shard is in its lore.
fn name_in(nbt: &Nbt) -> String {
    let Some(Nbt::List(items)) = get(nbt, &["i"]) else { panic!("{nbt:?}") };
    let text = |nbt: Option<&Nbt>| match nbt {
        Some(Nbt::String(text)) => plain(text),
        _ => String::new(),
    };
    let name = text(get(&items[0], &["tag", "display", "Name"]));
    let name =
        name.split_once("[Lvl ").and_then(|(_, rest)| rest.split_once("] ")).map_or(&*name, |(_, name)| name);
    let name = without_glyphs(name);
    let lore = match get(&items[0], &["tag", "display", "Lore"]) {
        Some(Nbt::List(lore)) => text(lore.first()),
        _ => String::new(),
    };
    match (name.as_str(), lore.rsplit_once(' ')) {
        ("Attribute Shard", Some((attribute, level))) => format!("{attribute} Attribute Shard {level}"),
        _ => name,
    }
}

/// Returns a name without what the game does not show in it, or not in every copy: the tier of a pet, and
/// whether a stat boost is perfect.
fn own(name: &Name) -> String {
    let is_shown = !matches!(name.kind, Kind::Pet) && !name.id.ends_with("+PERFECT");
    let own = if is_shown { &name.name } else { name.name.split(" (").next().unwrap() };
    without_glyphs(own)
}

/// Whether the game shows this name. A reforge is before the name of an item.
fn is_shown(name: &Name, shown: &BTreeSet<String>) -> bool {
    let own = own(name);
    let bare = |shown: &String| name.kind == Kind::Item && shown.ends_with(&format!(" {own}"));
    let of_year = |shown: &String| shown.starts_with(&format!("{own} (Year "));
    shown.iter().any(|shown| *shown == own || bare(shown) || of_year(shown))
}

/// Whether the name has only the words of the id, and is in neither the catalogue nor the table of
/// exceptions.
fn is_of_words(name: &Name, catalogue: &BTreeMap<String, String>) -> bool {
    let id = name.id.split('+').next().unwrap().replace('-', ":");
    let words = |text: &str| text.to_lowercase().replace(|character: char| !character.is_alphanumeric(), " ");
    name.kind == Kind::Item && !catalogue.contains_key(&id) && words(&name.name) == words(&name.id)
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn names_are_those_that_the_game_shows() {
    let shown = shown();
    let names = names_of(&products(), &shown.keys().cloned().collect(), &catalogue());
    let captured = names.iter().filter(|name| shown.contains_key(&name.id));
    let (right, wrong): (Vec<_>, Vec<_>) = captured.partition(|name| is_shown(name, &shown[&name.id]));
    let wrong: Vec<_> = wrong.iter().map(|name| (&name.id, &name.name, &shown[&name.id])).collect();
    let share = right.len() * 1_000 / (right.len() + wrong.len());
    assert!(share >= 990, "{} names are right: {wrong:#?}", right.len());
}

/// The newest captured catalogue is from 2024, and the other captures are from 2026. So more names than with
/// a current catalogue are made of words.
#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn few_names_have_only_the_words_of_their_ids() {
    let catalogue = catalogue();
    let names = names_of(&products(), &known_ids(), &catalogue);
    assert_eq!(names.len(), 5_901);
    // At 8,400 ids, the response has at most 0.9 MB, and the row less than 400 kB.
    let all = Names { updated_at: UnixSeconds::new(1_795_348_920), count: names.len(), items: names.clone() };
    let text = serde_json::to_vec(&all).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&text).unwrap();
    let [whole, row] = [text.len(), encoder.finish().unwrap().len()].map(|bytes| bytes * 8_400 / names.len());
    assert!(whole <= 900_000 && row <= 200_000, "{whole} and {row} bytes");
    let of_words: Vec<_> = names.iter().filter(|name| is_of_words(name, &catalogue)).collect();
    assert!(of_words.len() * 100 <= 15 * names.len(), "{}: {of_words:#?}", of_words.len());
}
