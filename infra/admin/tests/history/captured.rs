//! Captures of the provider's history, as import files: an export has the same lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{DynamoDb, file, path, text, tick};

#[derive(Deserialize)]
struct Elections {
    elections: Vec<Election>,
}

#[derive(Deserialize)]
struct Election {
    year: u32,
    mayor: Option<Winner>,
}

#[derive(Deserialize)]
struct Winner {
    name: String,
    perks: Vec<String>,
}

/// `LuckOfTheSea` as `Luck Of The Sea`; `EZPZ` stays as it is.
fn words(identifier: &str) -> String {
    let mut words = String::new();
    let mut before = None::<char>;
    for character in identifier.chars() {
        if character.is_uppercase() && before.is_some_and(char::is_lowercase) {
            words.push(' ');
        }
        words.push(character);
        before = Some(character);
    }
    words
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn captured_mayors_come_back_as_they_were() {
    let capture = captures::text("history/mayors-y179-y444.json").unwrap();
    let Elections { elections } = serde_json::from_str(&capture).unwrap();
    let mut lines = String::new();
    for Election { year, mayor } in elections {
        let Some(Winner { name, perks }) = mayor else { continue };
        let perks =
            perks.iter().map(|perk| json!({"name": words(perk), "description": ""})).collect::<Vec<_>>();
        let key = json!(name.to_lowercase());
        let (name, perks) = (json!(name), perks.iter().map(perk).collect::<Vec<_>>().join(","));
        writeln!(lines, "{{\"year\":{year},\"name\":{name},\"key\":{key},\"perks\":[{perks}]}}").unwrap();
    }
    assert_eq!(words("LuckOfTheSea"), "Luck Of The Sea");
    let dynamodb = DynamoDb::start();
    let count = lines.lines().count();
    assert!(count > 250);
    let messages = dynamodb.succeed(&["import", "mayors", text(&file("mayors.ndjson", &lines))]);
    assert_eq!(messages, format!("imported {count}, already there 0, too old 0, bad lines 0\n"));
    assert_eq!(dynamodb.export("mayors", "History"), lines);
    let dump = dynamodb.dump("History");
    let again = dynamodb.import("mayors", "History", lines.as_bytes());
    assert_eq!(again, (format!("imported 0, already there {count}, too old 0, bad lines 0\n"), Some(0)));
    assert_eq!(dynamodb.dump("History"), dump);
}

/// With its fields in the order of the files.
fn perk(perk: &Value) -> String {
    format!("{{\"name\":{},\"description\":{}}}", perk["name"], perk["description"])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshots {
    last_updated: Vec<i64>,
    products: BTreeMap<String, Series>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Series {
    sell_price: Vec<Option<f64>>,
    buy_price: Vec<Option<f64>>,
    sell_volume: Vec<Option<i64>>,
    buy_volume: Vec<Option<i64>>,
}

#[test]
#[cfg_attr(not(captures), ignore = "needs captures")]
fn captured_prices_come_back_as_they_were() {
    let name = "history/bazaar-quickstatus-20260424-20260428-73snapshots.json";
    let capture = captures::text(name).unwrap();
    let Snapshots { last_updated, products } = serde_json::from_str(&capture).unwrap();
    let newest = last_updated.iter().max().unwrap() / 1_000;
    // By whole slots of every tier, so that the newest is at most three hours old.
    let shift = (Timestamp::now().as_second() - 60 - newest).div_euclid(10_800) * 10_800;
    let mut lines = String::new();
    // A quarter of them spans the same four days.
    for (index, updated) in last_updated.iter().enumerate().step_by(4) {
        let seconds = updated / 1_000 + shift;
        let mut quotes = Vec::new();
        for (id, series) in &products {
            let Series { sell_price, buy_price, sell_volume, buy_volume } = series;
            let (Some(sell), Some(buy)) = (sell_price[index], buy_price[index]) else { continue };
            let cents = |price: f64| format!("{price:.2}").parse::<f64>().unwrap();
            let (sell, buy) = (cents(sell), cents(buy));
            if sell > 0.0 || buy > 0.0 {
                let (sell_volume, buy_volume) = (sell_volume[index].unwrap(), buy_volume[index].unwrap());
                quotes.push(format!("\"{id}\":[{sell:?},{buy:?},{sell_volume},{buy_volume}]"));
            }
        }
        lines += &tick(Timestamp::from_second(seconds - seconds % 60).unwrap(), &quotes.join(","));
    }
    let count = lines.lines().count();
    let dynamodb = DynamoDb::start();
    let (first, whole) =
        (lines.lines().take(8).collect::<Vec<_>>().join("\n"), file("bazaar.ndjson", &lines));
    let (messages, _) = dynamodb.import("bazaar", "History", first.as_bytes());
    assert_eq!(messages, "imported 8, already there 0, too old 0, bad lines 0\n");
    let messages = dynamodb.succeed(&["import", "bazaar", text(&whole)]);
    assert_eq!(messages, format!("imported {}, already there 8, too old 0, bad lines 0\n", count - 8));
    let exported = path("exported");
    assert_eq!(dynamodb.succeed(&["export", "bazaar", text(&exported)]), format!("exported {count}\n"));
    assert!(std::fs::read_to_string(&exported).unwrap() == lines, "the export is not what was imported");
    let messages = dynamodb.succeed(&["import", "bazaar", text(&whole)]);
    assert_eq!(messages, format!("imported 0, already there {count}, too old 0, bad lines 0\n"));
    assert!(dynamodb.export("bazaar", "History") == lines, "the second import changed something");
}
