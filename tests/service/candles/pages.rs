//! Pages: a client that follows `next_before` sees every candle once, in order, and a page of the past stays as it is.

use local::Cloud;
use serde_json::json;

use super::{
    INTERVALS, Interval, MIDNIGHT, READER, before, build, candles, copies, interval, only_row, page, path,
};
use crate::history::market::{Market, quote};
use crate::history::table::{self, Row, with};
use crate::history::{DAY, HOUR, MINUTE, rfc3339, start};
use crate::support::{expect_clean_logs, get_at};

/// Rows of candles of the product `A`, one for each interval.
async fn rows(cloud: &Cloud) -> Vec<(&'static Interval, Row)> {
    Market::of("A", quote("1.0", "2.0", 3, 4)).record(cloud, MIDNIGHT - MINUTE).await;
    build(cloud, MIDNIGHT + 2 * MINUTE).await;
    let dump = candles(cloud).await;
    table::clear(cloud).await;
    INTERVALS.iter().map(|interval| (interval, only_row(&dump, interval).clone())).collect()
}

/// The starts of the candles of all pages, which have at most `limit` candles, and the number of pages.
async fn walk(
    cloud: &Cloud,
    interval: &'static Interval,
    limit: usize,
    mut end: i64,
    now: i64,
) -> (Vec<i64>, u32) {
    let (mut times, mut pages) = (Vec::new(), 0);
    loop {
        let page = page(cloud, "A", interval, &format!("&limit={limit}{}", before(end)), now).await;
        assert!(page.count <= limit, "{} candles, the limit is {limit}", page.count);
        assert!(page.times().iter().all(|time| *time < end), "all open before {}", rfc3339(end));
        times.splice(0..0, page.times());
        pages += 1;
        let Some(next) = page.next() else { return (times, pages) };
        assert!(next < end, "the next page is older");
        end = next;
    }
}

#[tokio::test]
async fn following_next_before_gives_every_candle_once_and_in_order() {
    let cloud = start().await;
    let rows = rows(&cloud).await;
    for (interval, row) in rows.iter().filter(|(interval, _)| interval.name == "30m") {
        let now = MIDNIGHT + 1_100 * interval.length + 30 * MINUTE;
        // The product is in some rows, and others are missing. For hundreds of slots in a row, it is in none.
        let numbers = 0..1_100_i64;
        let has_row = |number: i64| number % 11 != 3 && !(100..130).contains(&number);
        let has_candle = |number: i64| has_row(number) && number % 7 != 5 && !(400..780).contains(&number);
        let without = with(row, "products", json!({"M": {"B": row["products"]["M"]["A"]}}));
        let slot = |number: i64| MIDNIGHT + number * interval.length;
        table::put(&cloud, copies(row, numbers.clone().filter(|number| has_candle(*number)).map(slot))).await;
        let others = numbers.clone().filter(|number| has_row(*number) && !has_candle(*number));
        table::put(&cloud, copies(&without, others.map(slot))).await;
        let expected: Vec<_> = numbers.filter(|number| has_candle(*number)).map(slot).collect();
        for limit in [1_000, 288, 20] {
            let (times, pages) = walk(&cloud, interval, limit, now, now).await;
            assert_eq!(times, expected, "{} with pages of {limit}", interval.name);
            let least = expected.len().div_ceil(limit);
            assert!(usize::try_from(pages).unwrap() <= least + 7, "{pages} pages of {limit}");
        }
        // Candle by candle, from within the long gap.
        let (times, _) = walk(&cloud, interval, 1, slot(420), now).await;
        let first: Vec<_> = expected.iter().copied().filter(|time| *time < slot(420)).collect();
        assert_eq!(times, first, "{}", interval.name);
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_page_has_the_candles_that_open_before_its_end() {
    let cloud = start().await;
    let rows = rows(&cloud).await;
    for (interval, row) in &rows {
        let slot = |number: i64| MIDNIGHT + number * interval.length;
        table::put(&cloud, copies(row, (0..4).map(slot))).await;
        let now = slot(4) + 20 * MINUTE;
        let third = rfc3339(slot(2));
        let bare = third.strip_suffix('Z').unwrap();
        let earlier = rfc3339(slot(2) - 1);
        let earlier = earlier.strip_suffix('Z').unwrap();
        for (end, last) in [
            (format!("{earlier}Z"), 1),
            (format!("{earlier}.999Z"), 1),
            (format!("{bare}Z"), 1),
            (format!("{bare}.000Z"), 1),
            (format!("{bare}+00:00"), 1),
            // Any later moment, even one that milliseconds cannot tell from it, may count as the start.
            (format!("{bare}.001Z"), 2),
            (rfc3339(slot(3) - 1), 2),
            (rfc3339(slot(3)), 2),
            (rfc3339(slot(3) + 1), 3),
            (rfc3339(now), 3),
            ("9999-12-31T23:59:59Z".to_owned(), 3),
            ("9999-12-31T23:59:59-23:59".to_owned(), 3),
        ] {
            let page = page(&cloud, "A", interval, &format!("&before={end}"), now).await;
            assert_eq!(
                page.times(),
                (0..=last).map(slot).collect::<Vec<_>>(),
                "{} before {end}",
                interval.name
            );
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn before_the_first_candle_a_page_is_empty() {
    let cloud = start().await;
    let rows = rows(&cloud).await;
    for (interval, row) in &rows {
        table::put(&cloud, copies(row, [MIDNIGHT])).await;
        let now = MIDNIGHT + interval.length + HOUR;
        let past = [MIDNIGHT, MIDNIGHT - 1, MIDNIGHT - 29 * DAY, MIDNIGHT - 20_000 * DAY, 1, 0, -1];
        let mut ends: Vec<_> = past.into_iter().map(rfc3339).collect();
        ends.extend(
            ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "1969-12-31T23:59:59.999Z"]
                .map(str::to_owned),
        );
        for end in ends {
            let page = page(&cloud, "A", interval, &format!("&before={end}"), now).await;
            assert_eq!((page.count, page.next_before), (0, None), "{} before {end}", interval.name);
        }
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_limit_reaches_from_1_to_1000() {
    let cloud = start().await;
    let rows = rows(&cloud).await;
    let (interval, row) = &rows[0];
    let slot = |number: i64| MIDNIGHT + number * interval.length;
    table::put(&cloud, copies(row, (0..1_200).map(slot))).await;
    let now = slot(1_200) + 20 * MINUTE;
    for (further, count) in [
        ("&limit=1", 1),
        ("&limit=2", 2),
        ("&limit=999", 999),
        ("&limit=1000", 1_000),
        ("&limit=0288", 288),
        ("", 288),
    ] {
        let page = page(&cloud, "A", interval, further, now).await;
        assert_eq!(page.times(), (1_200 - count..1_200).map(slot).collect::<Vec<_>>(), "{further}");
        assert_eq!(page.next(), Some(slot(1_200 - count)), "{further}");
    }
    // Exactly as many as there are.
    for (count, next) in [(287, None), (288, None), (289, Some(slot(1)))] {
        let page = page(&cloud, "A", interval, &before(slot(count)), now).await;
        assert_eq!((page.count, page.next()), (usize::try_from(count.min(288)).unwrap(), next), "{count}");
    }
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_page_of_the_past_is_the_same_later() {
    let cloud = start().await;
    let market = |minute: i64| Market::of("A", quote(minute + 1, "2.0", minute, 4));
    let first = MIDNIGHT - 60 * MINUTE;
    for minute in [0, 2, 7, 19] {
        market(minute).record(&cloud, first + minute * MINUTE).await;
    }
    build(&cloud, MIDNIGHT - 3 * MINUTE).await;
    let mut paths = Vec::new();
    for (name, minute, limit) in [
        ("5m", 0, 1),
        ("5m", 5, 1),
        ("5m", 10, 288),
        ("5m", 25, 2),
        ("30m", 0, 1),
        ("30m", 30, 1),
        ("30m", 45, 288),
    ] {
        let further = format!("&limit={limit}{}", before(first + minute * MINUTE));
        paths.push(path("A", interval(name), &further));
    }
    let mut earlier = Vec::new();
    for path in &paths {
        earlier.push(get_at(&cloud, path, (MIDNIGHT - 3 * MINUTE) * 1_000).await.text);
    }
    market(61).record(&cloud, MIDNIGHT + MINUTE).await;
    build(&cloud, MIDNIGHT + 12 * MINUTE).await;
    for later in [MIDNIGHT + 12 * MINUTE, MIDNIGHT + 29 * DAY] {
        cloud.kill(READER).await.unwrap();
        for (path, earlier) in paths.iter().zip(&earlier) {
            assert_eq!(&get_at(&cloud, path, later * 1_000).await.text, earlier, "{path} at {later}");
        }
    }
    expect_clean_logs(&cloud);
}
