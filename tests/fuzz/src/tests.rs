//! The properties with generated inputs. `PROPTEST_CASES` is the number of inputs.

use common::auth::ApiKey;
use fastnbt::{Value as Nbt, nbt};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use simulator::{auctions, bazaar, election, fire_sales, items, names, profiles};

use crate::item_bytes::item_bytes;
use crate::key::key;
use crate::{json, provider_body};

/// A body of the provider as the simulator writes it, with a few rows of each list.
fn sample_body() -> impl Strategy<Value = Value> {
    const NOW_MS: i64 = 1_777_388_600_000;
    select(vec![
        shortened(&bazaar::body(1, NOW_MS)),
        shortened(&auctions::Snapshot::new(1, auctions::refreshed_at(1, 0, NOW_MS)).page(0).unwrap()),
        shortened(&auctions::ended::body(1, NOW_MS)),
        shortened(&fire_sales::body(1, NOW_MS)),
        shortened(&election::body(1, NOW_MS)),
        shortened(&profiles::body(1, &names::uuid(1, "Notch").unwrap(), NOW_MS)),
        shortened(&items::body(1, NOW_MS)),
    ])
}

/// The body with at most three entries in each list, and in each object with many.
fn shortened(body: &str) -> Value {
    fn shorten(value: &mut Value) {
        match value {
            Value::Array(elements) => {
                elements.truncate(3);
                elements.iter_mut().for_each(shorten);
            }
            Value::Object(entries) => {
                let last = if entries.len() > 30 { entries.keys().nth(3).cloned() } else { None };
                entries.retain(|name, _| last.as_ref().is_none_or(|last| name < last));
                entries.values_mut().for_each(shorten);
            }
            _ => {}
        }
    }
    let mut value = serde_json::from_str(body).unwrap();
    shorten(&mut value);
    value
}

/// The NBT of items whose attributes decide their ids, with up to three bytes replaced, most of them by a type.
fn nearly_an_item() -> impl Strategy<Value = Vec<u8>> {
    let nbt = |attributes: Nbt| {
        let tag = nbt!({"display": {"Name": "[Lvl 100] Bee"}, "ExtraAttributes": attributes});
        fastnbt::to_bytes(&nbt!({"i": [{"Count": 1, "tag": tag}]})).unwrap()
    };
    let attributes = vec![
        nbt!({"id": "PET", "petInfo": r#"{"type":"BEE","tier":"RARE"}"#}),
        nbt!({"id": "RUNE", "runes": {"ICE": 1}}),
        nbt!({"id": "POTION", "potion": "speed", "potion_level": 8, "effects": [{"a": [B; 1, 2]}]}),
        nbt!({"id": "LOG:2", "baseStatBoostPercentage": 50, "timestamp": 1_i64}),
    ];
    let byte = prop_oneof![3 => 0..14_u8, 1 => any::<u8>()];
    let changes = vec((any::<Index>(), byte), 0..4);
    (select(attributes).prop_map(nbt), changes).prop_map(|(mut nbt, changes)| {
        for (at, byte) in changes {
            let position = at.index(nbt.len());
            nbt[position] = byte;
        }
        nbt
    })
}

/// A key with up to three characters replaced, and texts around it.
fn nearly_a_key() -> impl Strategy<Value = String> {
    let key =
        "[0-9A-Za-z]{32}".prop_map(|random| ApiKey::of_random_part(&random).unwrap().expose().to_owned());
    let around = || select(vec!["", "gd_", "gd", "x", "_", " ", "\u{e4}", "gd_gd_", "/v1/gd_x"]);
    (key, vec((any::<Index>(), any::<char>()), 0..3), around(), around()).prop_map(
        |(key, changes, before, after)| {
            let mut characters: Vec<char> = key.chars().collect();
            for (at, character) in changes {
                let position = at.index(characters.len());
                characters[position] = character;
            }
            format!("{before}{}{after}", characters.into_iter().collect::<String>())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_key_or_refused(text in prop_oneof![nearly_a_key(), any::<String>()]) {
        key(&text);
    }

    #[test]
    fn any_body_is_read_row_by_row_or_refused(
        body in sample_body().prop_flat_map(|sample| json::event(&sample))
    ) {
        provider_body(body.as_bytes());
    }

    #[test]
    fn any_bytes_are_an_item_or_refused(nbt in prop_oneof![nearly_an_item(), vec(0..14_u8, 0..200)]) {
        item_bytes(&nbt);
    }
}
