//! What history costs on AWS, measured with the service's own functions: the bounds that the shards of the tiers were
//! chosen for. The two longest ranges take too long for a test; `cargo local cost` measures them, too.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use local::cost::{Error, FEWEST_PRODUCTS, MOST_WRITE_UNITS, Options, measure};

#[tokio::test]
async fn history_costs_no_more_than_it_may() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let progress = move |progress: &local::Progress| {
        sink.lock().unwrap().push((progress.done, progress.total));
    };
    let options = Options { ranges: 2, progress: Some(Arc::new(progress)), ..Options::default() };
    let report = measure(options).await.unwrap();
    assert_eq!(report.missed(), Vec::<String>::new(), "{report}");

    // Not because nothing was measured.
    assert!(report.products >= FEWEST_PRODUCTS && report.priced > 1_000, "{report}");
    let [finest, .., coarsest] = report.tiers.as_slice() else { panic!("{report}") };
    assert_eq!((finest.tier.name, coarsest.tier.name), ("1m", "3h"));
    for tier in &report.tiers {
        // A row for every shard, or nearly; each takes a write unit or more; and so does the row that completes the slot.
        assert!(tier.rows > tier.tier.shards as usize / 2, "{report}");
        assert!(tier.write_units_per_tick >= f64::from(u32::try_from(tier.rows + 1).unwrap()), "{report}");
        assert!(tier.row_bytes.smallest > 50 && tier.row_bytes.largest > 200, "{report}");
        assert!(tier.slots_kept > u64::from(tier.tier.slots), "{report}");
    }
    assert!(report.write_units_per_month() > MOST_WRITE_UNITS / 2.0, "{report}");
    let ranges: Vec<_> = report.ranges.iter().map(|range| (range.tier.range, range.pages)).collect();
    assert_eq!(ranges, [("1h", 1), ("24h", 1)]);
    for range in &report.ranges {
        assert!(range.read_units > 1.0 && range.read_units_worst > range.read_units, "{report}");
        // Half a unit for each 4 kB: no row was read twice, and none for nothing.
        let least = range.bytes_read / 4_096.0 / 2.0;
        assert!((least..least + 0.5).contains(&range.read_units), "{report}");
    }
    let steps = seen.lock().unwrap();
    let (done, total) = *steps.last().unwrap();
    assert_eq!(done, total);
    assert!(steps.is_sorted());
}

#[tokio::test]
async fn a_small_snapshot_is_refused_before_anything_starts() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cost-small.json");
    std::fs::write(&path, r#"{"success": true, "products": {"A": {}, "B": {}}}"#).unwrap();
    let refused = measure(Options { snapshot: Some(path), ..Options::default() }).await;
    assert!(matches!(refused, Err(Error::FewProducts(2))), "{refused:?}");
    let absent = measure(Options { snapshot: Some(PathBuf::from("/absent")), ..Options::default() }).await;
    assert!(absent.unwrap_err().to_string().starts_with("cannot read the snapshot /absent: "));
}
