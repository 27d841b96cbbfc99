//! Candles are served as long as the contract says: 30 days, 90 days, a year, three years, or permanently.
//! Rows do not expire earlier.

use serde_json::json;

use super::{INTERVALS, MIDNIGHT, build, candles, clear, copies, get_page, only_row};
use crate::history::market::{Market, quote};
use crate::history::table::{self, with};
use crate::history::{DAY, MINUTE, start};
use crate::support::expect_clean_logs;

#[tokio::test]
async fn a_candle_is_shown_for_as_long_as_it_is_kept_and_expires_after_a_query_has_seen_it_last() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, MIDNIGHT - MINUTE).await;
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = candles(&cloud).await;
    assert_eq!(dump.len(), 2 * INTERVALS.len(), "each interval must have a row and a marker");
    for ((partition, sort_key), row) in &dump {
        let name = partition.split('#').nth(1).unwrap();
        let interval = super::interval(name);
        let slot: i64 = sort_key.parse().unwrap();
        assert_eq!(slot, interval.slot(MIDNIGHT - MINUTE), "{partition}");
        let expires = row.get("ttl").map(|ttl| ttl["N"].as_str().unwrap().parse::<i64>().unwrap());
        match (interval.kept, expires) {
            (None, None) => {}
            (Some(kept), Some(expires)) => {
                let last = slot + kept + interval.length;
                assert!((last..last + DAY).contains(&expires), "{partition} expires at {expires}");
            }
            other => panic!("{partition}: {other:?}"),
        }
    }
    clear(&cloud).await;
    for interval in &INTERVALS {
        let row = only_row(&dump, interval);
        let now = MIDNIGHT + 4_000 * DAY + 17 * MINUTE;
        let newest = interval.slot(now) - interval.length;
        let ages = interval.kept.map_or(4_000 * DAY, |kept| kept) / interval.length;
        // The newest candles, the oldest that are still served, and older ones.
        let oldest = interval.slot(now) - ages * interval.length;
        let kept = [oldest, oldest + interval.length, newest - interval.length, newest];
        let gone = [oldest - interval.length, oldest - 2 * interval.length, oldest - 50 * interval.length];
        table::put(&cloud, copies(row, kept)).await;
        if interval.kept.is_some() {
            table::put(&cloud, copies(row, gone)).await;
        }
        // Leaves out the interval under way, whose candle would follow from the stored finer candles.
        let end = super::before(interval.slot(now));
        let shown = get_page(&cloud, "A", interval, &end, now).await;
        assert_eq!((shown.times(), shown.next_before), (kept.to_vec(), None), "{}", interval.name);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_candle_whose_sources_have_expired_is_not_built_again_from_the_rest() {
    let cloud = start().await;
    let market = |minute: i64| Market::of("A", quote(minute, "2.0", minute, 4));
    for minute in [1, 6] {
        market(minute).record(&cloud, MIDNIGHT - 30 * MINUTE + minute * MINUTE).await;
    }
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let built = candles(&cloud).await;
    // Deletes the minutes and the first of the two 5-minute candles, as DynamoDB does when they expire.
    table::clear(&cloud).await;
    let first = format!("{}", MIDNIGHT - 30 * MINUTE);
    let is_left =
        |(partition, slot): &(String, String)| !(partition.starts_with("candles#5m") && *slot == first);
    table::put(&cloud, built.iter().filter(|(key, _)| is_left(key)).map(|(_, row)| row.clone())).await;
    let expired = candles(&cloud).await;
    assert_eq!(expired.len(), built.len() - 2, "a row and a marker are deleted");
    // The first run is at the time when the first candle expires. The second candle expires later.
    let ttl: i64 = built[&("candles#5m".to_owned(), first)]["ttl"]["N"].as_str().unwrap().parse().unwrap();
    for now in [ttl, ttl + 4 * MINUTE, ttl + 60 * MINUTE, ttl + 100 * DAY] {
        assert_eq!(build(&cloud, now).await, [], "at {now}");
    }
    table::expect_same(&candles(&cloud).await, &expired, "after the sources have expired");
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_stored_candle_with_more_samples_stays() {
    let cloud = start().await;
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(&cloud, MIDNIGHT - MINUTE).await;
    build(&cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = candles(&cloud).await;
    let other = json!({"M": {"A": {"S": "9.75,9.75,9.75,9.75,9.75,9.75,9.75,9.75,5,6,7,0"}}});
    for row in dump.values().cloned() {
        let row = if row.contains_key("products") { with(&row, "products", other.clone()) } else { row };
        table::put(&cloud, [row]).await;
    }
    let imported = candles(&cloud).await;
    Market::of("A", quote("3.0", "2.0", 3, 4)).record(&cloud, MIDNIGHT - 2 * MINUTE).await;
    assert_eq!(build(&cloud, MIDNIGHT + 2 * MINUTE).await, []);
    table::expect_same(&candles(&cloud).await, &imported, "after a run");
    expect_clean_logs(&cloud);
}
