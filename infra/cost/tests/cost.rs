//! The cost of history, measured with the service's own functions. The recording is complete; of the ranges, a few shards
//! are queried. `cargo cost` measures everything.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cost::{Error, MAX_WRITE_UNITS, MIN_PRODUCTS, Options, WriteCost, measure};
use tables::history::bazaar::TIERS;

#[tokio::test]
async fn history_stays_within_its_cost_targets() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let progress = move |progress: &local::Progress| {
        sink.lock().unwrap().push((progress.done, progress.total));
    };
    let options =
        Options { ranges: 2, shards: Some(12), progress: Some(Arc::new(progress)), ..Options::default() };
    let report = measure(options).await.unwrap();
    assert_eq!(report.missed(), Vec::<String>::new(), "{report}");

    // A report without measured figures would miss no target either.
    assert!(report.products >= MIN_PRODUCTS && report.priced > 1_000, "{report}");
    let names = |costs: &[WriteCost]| costs.iter().map(|cost| cost.name).collect::<Vec<_>>();
    let (tiers, candles) = (&report.writing.tiers, &report.writing.candles);
    assert_eq!(names(tiers), ["1m", "5m", "30m", "1h", "3h"]);
    assert_eq!(names(candles), ["5m", "30m", "1h", "3h", "1d"]);
    for cost in tiers.iter().chain(candles) {
        // Nearly every shard has a row. Each row takes at least one write unit, and so does the marker of the slot.
        assert!(cost.rows > cost.shards as usize / 2, "{report}");
        assert!(cost.write_units_per_slot >= f64::from(u32::try_from(cost.rows + 1).unwrap()), "{report}");
        assert!(cost.row_bytes.smallest > 50 && cost.row_bytes.largest > 200, "{report}");
    }
    for (cost, tier) in tiers.iter().zip(&TIERS) {
        assert!(cost.slots_kept.unwrap() > u64::from(tier.slots), "{report}");
    }
    // 30 days, 90 days, one year and three years with a margin, and for ever.
    let kept: Vec<_> = candles.iter().map(|cost| cost.slots_kept).collect();
    assert_eq!(kept, [Some(30 * 288 + 37), Some(90 * 48 + 7), Some(365 * 24 + 4), Some(1_095 * 8 + 2), None]);
    for (cost, sources) in candles.iter().zip(tiers.iter().take(1).chain(candles)) {
        // Each shard of what it is built from is a query, which takes at least one unit.
        let shards = f64::from(sources.shards);
        assert!((shards..3.0 * shards).contains(&cost.read_units_per_slot), "{report}");
    }
    let (prices, of_candles) = (report.writing.of_prices(), report.writing.of_candles());
    assert!(prices > MAX_WRITE_UNITS / 2.0 && of_candles > 4e6, "{report}");
    assert!(
        report.all_priced.of_prices() > prices && report.all_priced.of_candles() > of_candles,
        "{report}"
    );

    let ranges: Vec<_> = report.ranges.iter().map(|range| (range.name.as_str(), range.pages)).collect();
    assert_eq!(ranges, [("1h", 1), ("24h", 1)]);
    for range in &report.ranges {
        assert!(range.read_units > 1.0 && range.read_units_worst > range.read_units, "{report}");
        // Half a unit for each 4 kB: each row was read exactly once.
        let least = range.bytes_read / 4_096.0 / 2.0;
        assert!((least..least + 0.5).contains(&range.read_units), "{report}");
    }
    assert_eq!(report.pages.len(), 15);
    for (pages, finer) in report.pages.chunks(3).zip([1, 2, 2, 3, 3]) {
        let [newest, older, largest] = pages else { panic!("{report}") };
        assert_eq!([newest, older, largest].map(|page| page.points), [288, 288, 1_000]);
        // The newest page reads finer intervals and the minutes, too.
        assert_eq!((newest.pages, older.pages), (1 + finer, 1), "{report}");
        assert!(newest.read_units > older.read_units, "{report}");
        for page in [older, largest] {
            let least = page.bytes_read / 4_096.0 / 2.0;
            assert!(
                (least..least + 0.5 * f64::from(u32::try_from(page.pages).unwrap()))
                    .contains(&page.read_units),
                "{report}"
            );
        }
    }
    let steps = seen.lock().unwrap();
    let (done, total) = *steps.last().unwrap();
    assert_eq!(done, total);
    assert!(steps.is_sorted());
}

#[tokio::test]
async fn an_unusable_snapshot_is_refused_before_anything_starts() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cost-small.json");
    std::fs::write(&path, r#"{"success": true, "products": {"A": {}, "B": {}}}"#).unwrap();
    let refused = measure(Options { snapshot: Some(path), ..Options::default() }).await;
    assert!(matches!(refused, Err(Error::TooFewProducts(2))), "{refused:?}");
    let absent = measure(Options { snapshot: Some(PathBuf::from("/absent")), ..Options::default() }).await;
    assert!(absent.unwrap_err().to_string().starts_with("cannot read the snapshot /absent: "));
}
