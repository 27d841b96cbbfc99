//! The cost of history, measured with the service's own functions. The recording is complete; of the ranges, a few shards
//! are queried. `cargo cost` measures everything.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cost::{Error, MAX_WRITE_UNITS, MIN_PRODUCTS, Options, measure};

#[tokio::test]
async fn history_stays_within_its_cost_targets() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let progress = move |progress: &local::Progress| {
        sink.lock().unwrap().push((progress.done, progress.total));
    };
    let options =
        Options { ranges: 2, shards: Some(3), progress: Some(Arc::new(progress)), ..Options::default() };
    let report = measure(options).await.unwrap();
    assert_eq!(report.missed(), Vec::<String>::new(), "{report}");

    // A report without measured figures would miss no target either.
    assert!(report.products >= MIN_PRODUCTS && report.priced > 1_000, "{report}");
    let [finest, .., coarsest] = report.tiers.as_slice() else { panic!("{report}") };
    assert_eq!((finest.tier.name, coarsest.tier.name), ("1m", "3h"));
    for tier in &report.tiers {
        // Nearly every shard has a row. Each row takes at least one write unit, and so does the marker of the slot.
        assert!(tier.rows > tier.tier.shards as usize / 2, "{report}");
        assert!(tier.write_units_per_tick >= f64::from(u32::try_from(tier.rows + 1).unwrap()), "{report}");
        assert!(tier.row_bytes.smallest > 50 && tier.row_bytes.largest > 200, "{report}");
        assert!(tier.slots_kept > u64::from(tier.tier.slots), "{report}");
    }
    assert!(report.write_units_per_month() > MAX_WRITE_UNITS / 2.0, "{report}");
    let ranges: Vec<_> = report.ranges.iter().map(|range| (range.tier.range, range.pages)).collect();
    assert_eq!(ranges, [("1h", 1), ("24h", 1)]);
    for range in &report.ranges {
        assert!(range.read_units > 1.0 && range.read_units_worst > range.read_units, "{report}");
        // Half a unit for each 4 kB: each row was read exactly once.
        let least = range.bytes_read / 4_096.0 / 2.0;
        assert!((least..least + 0.5).contains(&range.read_units), "{report}");
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
