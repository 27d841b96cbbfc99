//! Every sale in the captured lists of the provider is recorded once.

use std::collections::BTreeMap;
use std::time::Duration;

use common::time::UnixSeconds;
use serde_json::Value;
use tables::auctions::{SoldAuction, known, lists, sold_between};

use super::house::{RECORDER, listing, serve, table};
use crate::history::{MINUTE, START, record, start};
use crate::support::expect_clean_logs;

pub(crate) const PAGE: &str = "auctions/v2-20250608T1707Z-page0.json";

pub(crate) fn capture(name: &str) -> Value {
    serde_json::from_str(&captures::text(name).unwrap()).unwrap()
}

#[tokio::test]
#[cfg_attr(not(captures), ignore = "needs captures")]
async fn every_sale_of_the_captured_lists_is_recorded_once() {
    let cloud = start().await;
    let folder = captures::folder().unwrap().join("auctions_ended");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected = BTreeMap::new();
    let mut minute = START;
    for name in &names {
        let list = capture(&format!("auctions_ended/{name}"));
        let time = list["lastUpdated"].as_i64().unwrap();
        for row in list["auctions"].as_array().unwrap() {
            let sale =
                (row["price"].as_u64().unwrap(), row["timestamp"].as_i64().unwrap(), row["bin"] == true);
            expected.insert(row["auction_id"].as_str().unwrap().to_owned(), sale);
        }
        // The provider serves the same list for two minutes.
        for _ in 0..2 {
            serve(&cloud, time, &[listing(1, "HYPERION", 1, time)], &list["auctions"]);
            assert_eq!(record(&cloud, RECORDER, minute).await["left_out"], 0, "{name}");
            minute += MINUTE;
        }
    }
    let history = table(&cloud);
    let [begin, end] = [0, 9_999_999_999].map(UnixSeconds::new);
    let lists = lists(history.with_timeout(Duration::from_mins(1)), begin, end).await.unwrap();
    let sold: Vec<_> = sold_between(&lists, begin, end).collect();
    let found: BTreeMap<_, _> = sold
        .iter()
        .map(|sold| (sold.auction.to_string(), (sold.sale.price, sold.sale.sold_at.get(), sold.sale.bin)))
        .collect();
    assert_eq!((sold.len(), found), (expected.len(), expected));
    assert_eq!(known(&lists, begin, end), Duration::from_mins(names.len() as u64));
    // A pet from level 100 on also counts under its hundreds, so the recorded level can be compared with the
    // ids.
    let hundreds_of = |sold: &SoldAuction| sold.sale.level.map_or(0, |level| level.get() / 100 * 100);
    let levels = sold.iter().filter(|sold| sold.sale.level.is_some()).count();
    assert!(levels > 100, "{levels} pets have a level");
    for sold in sold {
        let suffix = sold.items.get(1).and_then(|id| id.as_str().rsplit_once('+')).map(|(_, suffix)| suffix);
        let is_pet = sold.items[0].as_str().contains(';');
        let hundreds = if is_pet { suffix.and_then(|suffix| suffix.parse().ok()) } else { None };
        assert_eq!(hundreds_of(sold), hundreds.unwrap_or(0), "{sold:?}");
    }
    expect_clean_logs(&cloud);
}
