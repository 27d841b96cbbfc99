//! A client that follows `next_before` gets every candle once, in order.

use local::Cloud;
use serde_json::json;

use super::{INTERVALS, Interval, MIDNIGHT, before, build, candles, copies, get_page, only_row};
use crate::history::market::{Market, quote};
use crate::history::table::{self, Row, with};
use crate::history::{MINUTE, rfc3339, start};
use crate::support::{expect_clean_logs, get_at};

/// Builds candles of the product `A`, and returns one row for each interval.
async fn rows(cloud: &Cloud) -> Vec<(&'static Interval, Row)> {
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(cloud, MIDNIGHT - MINUTE).await;
    build(cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = candles(cloud).await;
    table::clear(cloud).await;
    INTERVALS.iter().map(|interval| (interval, only_row(&dump, interval).clone())).collect()
}

/// Requests all pages before `end`. Returns the starts of their candles, and the number of pages.
pub(super) async fn walk(
    cloud: &Cloud,
    interval: &'static Interval,
    further: &str,
    mut end: i64,
    now: i64,
) -> (Vec<i64>, usize) {
    let mut times = Vec::new();
    let mut pages = 0;
    loop {
        let page = get_page(cloud, "A", interval, &format!("{further}{}", before(end)), now).await;
        assert!(page.times().iter().all(|time| *time < end), "all candles must open before {}", rfc3339(end));
        times.splice(0..0, page.times());
        pages += 1;
        let Some(next) = page.next() else { return (times, pages) };
        assert!(next < end, "the next page must be older");
        end = next;
    }
}

#[tokio::test]
async fn following_next_before_gives_every_candle_once_and_in_order() {
    let cloud = start().await;
    let stored = rows(&cloud).await;
    let (interval, row) = stored.iter().find(|(interval, _)| interval.name == "30m").unwrap();
    let now = MIDNIGHT + 1_100 * interval.length + 30 * MINUTE;
    // Some slots have no row, and some rows lack the product. One stretch of hundreds of slots has no candle
    // of the product.
    let has_row = |number: i64| number % 11 != 3 && !(100..130).contains(&number);
    let has_candle = |number: i64| has_row(number) && number % 7 != 5 && !(400..780).contains(&number);
    let without = with(row, "products", json!({"M": {"B": row["products"]["M"]["A"]}}));
    let slots = |is_in: &dyn Fn(i64) -> bool| -> Vec<i64> {
        (0..1_100).filter(|number| is_in(*number)).map(|number| MIDNIGHT + number * interval.length).collect()
    };
    let expected = slots(&has_candle);
    table::put(&cloud, copies(row, expected.clone())).await;
    table::put(&cloud, copies(&without, slots(&|number| has_row(number) && !has_candle(number)))).await;
    for (further, limit) in [("&limit=1000", 1_000), ("", 288), ("&limit=20", 20)] {
        let (times, pages) = walk(&cloud, interval, further, now, now).await;
        assert_eq!(times, expected, "pages of {limit}");
        let least = expected.len().div_ceil(limit);
        assert!((least..=least + 7).contains(&pages), "{pages} pages of {limit}");
    }
    // Pages of one candle, starting inside the long gap.
    let middle = MIDNIGHT + 420 * interval.length;
    let (times, _) = walk(&cloud, interval, "&limit=1", middle, now).await;
    assert_eq!(times, expected.into_iter().filter(|time| *time < middle).collect::<Vec<_>>());
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_page_has_the_candles_that_open_before_its_end() {
    let cloud = start().await;
    for (interval, row) in &rows(&cloud).await {
        let slot = |number: i64| MIDNIGHT + number * interval.length;
        table::put(&cloud, copies(row, (0..4).map(slot))).await;
        let now = slot(4) + 20 * MINUTE;
        let third = rfc3339(slot(2));
        let bare = third.strip_suffix('Z').unwrap();
        for (end, count) in [
            ("0000-01-01T00:00:00+23:59".to_owned(), 0),
            (rfc3339(MIDNIGHT), 0),
            (rfc3339(slot(2) - 1), 2),
            (format!("{bare}.000Z"), 2),
            // A later end includes the candle that starts at the whole second.
            (format!("{bare}.001Z"), 3),
            ("9999-12-31T23:59:59-23:59".to_owned(), 4),
        ] {
            let page = get_page(&cloud, "A", interval, &format!("&before={end}"), now).await;
            assert_eq!(
                page.times(),
                (0..count).map(slot).collect::<Vec<_>>(),
                "{} before {end}",
                interval.name
            );
            assert_eq!(page.next_before, None);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn pages_from_a_time_end_at_the_first_candle_that_opens_at_or_after_it() {
    let cloud = start().await;
    let stored = rows(&cloud).await;
    let (interval, row) = stored.iter().find(|(interval, _)| interval.name == "30m").unwrap();
    let slot = |number: i64| MIDNIGHT + number * interval.length;
    // No candle of the product is in the first 300 slots, so pages end within a gap.
    let without = with(row, "products", json!({"M": {"B": row["products"]["M"]["A"]}}));
    table::put(&cloud, copies(&without, (0..300).map(slot))).await;
    table::put(&cloud, copies(row, (300..400).map(slot))).await;
    let now = slot(400) + 20 * MINUTE;
    for (from, first) in [
        (rfc3339(slot(350)), 350),
        (rfc3339(slot(350) - 1), 350),
        (rfc3339(slot(350) + 1), 351),
        (format!("{}.001Z", rfc3339(slot(350)).strip_suffix('Z').unwrap()), 351),
        (rfc3339(slot(399)), 399),
        (rfc3339(slot(399) + 1), 400),
        (rfc3339(slot(200)), 300),
        ("0000-01-01T00:00:00Z".to_owned(), 300),
    ] {
        for limit in [1, 7, 50, 1_000] {
            let (times, _) = walk(&cloud, interval, &format!("&from={from}&limit={limit}"), now, now).await;
            assert_eq!(times, (first..400).map(slot).collect::<Vec<_>>(), "from {from}, pages of {limit}");
        }
    }
    // The page that reaches the start has no next page, neither after its last candle nor in a gap.
    for (from, end, limit) in [(350, 360, 10), (200, 310, 10), (250, 300, 1)] {
        let further = format!("&from={}&limit={limit}{}", rfc3339(slot(from)), before(slot(end)));
        assert_eq!(get_page(&cloud, "A", interval, &further, now).await.next_before, None, "{further}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_start_that_is_not_before_the_end_is_an_error_that_names_both() {
    let cloud = start().await;
    let now = "2026-04-28T06:00:00Z";
    for path in ["/v1/bazaar/candles?item_id=A", "/v1/auctions/candles?id=A"] {
        for (from, end) in [
            ("2026-04-28T06:00:00Z", None),
            ("2026-04-28T06:00:01Z", None),
            ("2026-04-28T05:00:00Z", Some("2026-04-28T05:00:00Z")),
            ("2026-04-28T05:00:00Z", Some("2026-04-27T05:00:00Z")),
        ] {
            let further = end.map(|end| format!("&before={end}")).unwrap_or_default();
            let now_ms = now.parse::<jiff::Timestamp>().unwrap().as_millisecond();
            let response = get_at(&cloud, &format!("{path}&from={from}{further}"), now_ms).await;
            let message = response.error("BAD_REQUEST");
            let end = end.unwrap_or(now);
            for part in ["'from'", "'before'", "now, if absent", from, end] {
                assert!(message.contains(part), "{message} must have {part}");
            }
        }
    }
}
