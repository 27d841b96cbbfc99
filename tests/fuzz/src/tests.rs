//! Tests the properties with generated inputs. `PROPTEST_CASES` sets the number of inputs.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::auth::{ApiKey, without_keys};
use common::request::auction_item_id::AuctionItemId;
use fastnbt::{Value as Nbt, nbt};
use libdeflater::{CompressionLvl, Compressor};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use record_auctions::item::{Buffers, read};
use serde_json::Value;
use simulator::{auctions, bazaar, election, fire_sales, items, names, profiles};

use crate::{json, provider_body};

#[test]
fn every_parser_of_the_provider_is_tested() {
    let upstream = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../common/src/upstream");
    for entry in std::fs::read_dir(upstream).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_parser = std::fs::read_to_string(&path).is_ok_and(|text| text.contains("\npub fn parse"));
        let call = format!("{name}::parse");
        assert!(!is_parser || include_str!("lib.rs").contains(&call), "`provider_body` must call {call}");
    }
}

/// A body of the simulator, shortened to a few rows of each list.
fn sample_body() -> impl Strategy<Value = Value> {
    const NOW_MS: i64 = 1_777_388_600_000;
    let bodies = [
        bazaar::body(1, NOW_MS),
        auctions::Snapshot::new(1, auctions::refreshed_at(1, 0, NOW_MS)).page(0).unwrap(),
        auctions::ended::body(1, NOW_MS),
        fire_sales::body(1, NOW_MS),
        election::body(1, NOW_MS),
        profiles::body(1, &names::uuid(1, "Notch").unwrap(), NOW_MS),
        items::body(1, NOW_MS),
    ];
    select(bodies.map(|body| shortened(serde_json::from_str(&body).unwrap())).to_vec())
}

/// Keeps at most three entries of each list, and of each object with more than 30.
fn shortened(body: Value) -> Value {
    match body {
        Value::Array(elements) => elements.into_iter().take(3).map(shortened).collect(),
        Value::Object(entries) => {
            let kept = if entries.len() > 30 { 3 } else { entries.len() };
            entries.into_iter().take(kept).map(|(name, value)| (name, shortened(value))).collect()
        }
        other => other,
    }
}

/// The NBT of items whose ids depend on attributes, with up to three bytes replaced, mostly by the number of
/// an NBT type.
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

/// Reads the NBT as the item of an auction. Either the NBT is refused, or the item's ids are legal and
/// differ.
fn check_item(nbt: &[u8]) {
    let mut compressor = Compressor::new(CompressionLvl::fastest());
    let mut gzip = vec![0; compressor.gzip_compress_bound(nbt.len())];
    let length = compressor.gzip_compress(nbt, &mut gzip).unwrap();
    let Ok(item) = read(&STANDARD.encode(&gzip[..length]), &mut Buffers::default()) else { return };
    assert_ne!(Some(&item.id), item.also.as_ref());
    for id in [Some(&item.id), item.also.as_ref()].into_iter().flatten() {
        assert_eq!(id.as_str().parse::<AuctionItemId>().as_ref(), Ok(id));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Fails if a key stays in a log line because of the surrounding text.
    #[test]
    fn no_text_shows_a_key(before in any::<String>(), prefix in "(gd|_|x|gd_gd_)?", random in "[0-9A-Za-z]{32}", after in any::<String>()) {
        let key = ApiKey::of_random_part(&random).unwrap();
        let shown = without_keys(&format!("{before}{prefix}{}{after}", key.expose()));
        prop_assert!(!shown.contains(&random), "{shown}");
    }

    /// Fails on panics, on bodies that are served although most rows are invalid, on rows that are skipped
    /// silently, and on messages that grow with the body.
    #[test]
    fn any_body_is_read_row_by_row_or_refused(body in sample_body().prop_flat_map(|sample| json::event(&sample))) {
        provider_body(body.as_bytes());
    }

    /// Fails on panics and on ids that no client can request.
    #[test]
    fn any_nbt_is_an_item_or_refused(nbt in prop_oneof![nearly_an_item(), vec(0..14_u8, 0..200)]) {
        check_item(&nbt);
    }
}
