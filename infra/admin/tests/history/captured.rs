//! Captures of the provider's history, as import files: an export has the same lines.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::support::{DynamoDb, file, line, path, start, summary, text, this_morning};

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
    // By whole days, so that only candles are kept of them.
    let shift = (Timestamp::now().as_second() - newest).div_euclid(86_400) * 86_400 - 3 * 86_400;
    let (mut minutes, mut candles) = (String::new(), String::new());
    let mut add = |time: Timestamp, index: usize| {
        let (time, slot) = (start(time, 1), start(time, 5));
        let missed = 4 - (time.as_second() - slot.as_second()) / 60;
        let (mut quotes, mut numbers) = (Vec::new(), Vec::new());
        for (id, series) in &products {
            let Series { sell_price, buy_price, sell_volume, buy_volume } = series;
            let (Some(sell), Some(buy)) = (sell_price[index], buy_price[index]) else { continue };
            let cents = |price: f64| format!("{price:.2}").parse::<f64>().unwrap();
            let (s, b) = (cents(sell), cents(buy));
            if s > 0.0 || b > 0.0 {
                let volumes = format!("{},{}", sell_volume[index].unwrap(), buy_volume[index].unwrap());
                quotes.push(format!("\"{id}\":[{s:?},{b:?},{volumes}]"));
                numbers.push(format!(
                    "\"{id}\":[{s:?},{s:?},{s:?},{s:?},{b:?},{b:?},{b:?},{b:?},{volumes},1,{missed}]"
                ));
            }
        }
        minutes += &line("1m", time, &quotes.join(","));
        candles += &line("5m", slot, &numbers.join(","));
    };
    // A quarter of them spans the same four days.
    let indices = (0..last_updated.len()).step_by(4);
    for index in indices.clone() {
        add(Timestamp::from_second(last_updated[index] / 1_000 + shift).unwrap(), index);
    }
    add(this_morning(), 0);
    let count = indices.count() + 1;
    let dynamodb = DynamoDb::start();
    let (first, whole) =
        (minutes.lines().take(8).collect::<Vec<_>>().join("\n"), file("bazaar.ndjson", &minutes));
    assert_eq!(dynamodb.import("bazaar", "History", first.as_bytes()), (summary(8, 0, 0, 0), Some(0)));
    assert_eq!(dynamodb.succeed(&["import", "bazaar", text(&whole)]), summary(count - 8, 8, 0, 0));
    let expected = candles + minutes.lines().last().unwrap() + "\n";
    let exported = path("exported");
    let messages = dynamodb.succeed(&["export", "bazaar", text(&exported)]);
    assert_eq!(messages, format!("exported {}\n", count + 1));
    assert!(std::fs::read_to_string(&exported).unwrap() == expected, "the export is not what was imported");
    assert_eq!(dynamodb.succeed(&["import", "bazaar", text(&exported)]), summary(0, count + 1, 0, 0));
    assert!(dynamodb.export("bazaar", "History") == expected, "the second import changed something");
}
