//! Prices and volumes come back from the history as the provider had them.

use futures_util::{StreamExt, stream};
use local::Cloud;
use serde_json::json;
use simulator::Fault;

use super::chart::{self, points, times};
use super::decimal::is_nearest_hundredth;
use super::market::{BAZAAR, Market, Quote, RECORDER, quote};
use super::{DAY, MINUTE, START, event, failure, record, rfc3339, start, table};
use crate::candles::{MIDNIGHT, build};
use crate::support::{
    await_logs, expect_clean_logs, get_at, simulator, start_with, without_repeated_fetches,
};

#[tokio::test]
async fn a_response_has_the_documented_fields_and_types() {
    let cloud = start().await;
    Market::of("INK_SACK:3", quote("8.0", "12.25", 5_000_000_000_i64, 7)).record(&cloud, START).await;
    let response = get_at(&cloud, "/v1/bazaar/history?item_id=INK_SACK:3&range=1h", START * 1_000).await;
    let point = concat!(
        r#"{"sell_price":8.0,"buy_price":12.25,"sell_volume":5000000000,"buy_volume":7,"#,
        r#""spread":4.25,"spread_percent":53.125,"recorded_at":"2026-04-28T15:00:00Z"}"#,
    );
    let data = format!(r#"{{"item_id":"INK_SACK:3","range":"1h","dataPoints":1,"history":[{point}]}}"#);
    let meta = r#"{"cached":false,"api_version":"v1"}"#;
    assert_eq!(response.text, format!(r#"{{"success":true,"data":{data},"meta":{meta}}}"#));
    response.data();
}

#[tokio::test]
async fn prices_are_rounded_to_the_nearest_cent_and_volumes_are_exact() {
    let cloud = start().await;
    let rows = [
        ("500000000.01", "500000000.01"),
        ("5.0000000001E8", "500000000.01"),
        ("5E8", "500000000.0"),
        ("6.0E7", "60000000.0"),
        ("1.11111111E8", "111111111.0"),
        ("499999999.999999", "500000000.0"),
        ("999999999999.99", "999999999999.99"),
        ("1e12", "1000000000000.0"),
        ("0.0049999999", "0.0"),
        ("0.0050000001", "0.01"),
        ("0.01", "0.01"),
        ("0.0149", "0.01"),
        ("0.0151", "0.02"),
        ("0.1", "0.1"),
        ("0.29", "0.29"),
        ("1.005", "1.0"),
        ("1.0050000000000001", "1.01"),
        ("4.35", "4.35"),
        ("3.6999999999999997", "3.7"),
        ("2.6749999999999998", "2.67"),
        ("8.2149999999999999", "8.21"),
        ("12345678.905000001", "12345678.91"),
        ("2.887645678129047E-11", "0.0"),
        ("7", "7.0"),
        ("0.0", "0.0"),
        ("0", "0.0"),
    ];
    let volumes = [0_i64, 1, 2_147_483_648, 4_294_967_297, 9_007_199_254_740_993, i64::MAX];
    let mut market = Market::default();
    for (position, (spelled, _)) in rows.iter().enumerate() {
        let (sell, buy) = (volumes[position % 6], volumes[(position + 1) % 6]);
        market = market.with(&format!("SELL:{position}"), quote(spelled, "1.5", sell, buy));
        market = market.with(&format!("BUY:{position}"), quote("1.5", spelled, buy, sell));
    }
    assert_eq!(market.record(&cloud, START).await["products"], rows.len() * 2);
    for (position, (spelled, kept)) in rows.iter().enumerate() {
        assert!(is_nearest_hundredth(kept, spelled), "{spelled}");
        let (sell, buy) = (volumes[position % 6], volumes[(position + 1) % 6]);
        let [point] = &points(&cloud, &format!("SELL:{position}"), "1h", START).await[..] else { panic!() };
        point.expect(&quote(kept, "1.5", sell, buy));
        let [point] = &points(&cloud, &format!("BUY:{position}"), "1h", START).await[..] else { panic!() };
        point.expect(&quote("1.5", kept, buy, sell));
    }
    expect_clean_logs(&cloud);
}

/// A price as the provider may spell it: of any size, with two digits after the point, or all that it has.
fn any_price(random: &mut fastrand::Rng) -> String {
    let coins = 10_f64.powf(random.f64() * 14.0 - 3.0);
    match random.u8(..4) {
        0 => format!("{coins:.0}"),
        1 => format!("{coins:.2}"),
        2 => format!("{coins:E}"),
        _ => format!("{coins:?}"),
    }
}

#[tokio::test]
async fn every_range_shows_random_quotes() {
    let cloud = start().await;
    let mut random = fastrand::Rng::with_seed(0x000B_A2AA_2026);
    let mut market = Market::default();
    for number in 0..250 {
        let id: String =
            (0..random.usize(1..=40)).map(|_| char::from(*random.choice(b"AZ09_:-").unwrap())).collect();
        let mut volume = || {
            let bits = random.u32(0..63);
            random.i64(0..=i64::MAX >> bits)
        };
        let (sell_volume, buy_volume) = (volume(), volume());
        // A product whose prices are both 0 is not recorded.
        let (sell, buy) = (any_price(&mut random), any_price(&mut random).replace("0.00", "0.01"));
        let buy = if buy == "0" { "1".to_owned() } else { buy };
        market = market.with(&format!("{id}{number}"), quote(sell, buy, sell_volume, buy_volume));
    }
    market.record(&cloud, START).await;
    let now = MIDNIGHT + 2 * MINUTE;
    build(&cloud, now).await;
    let compare = async |(position, (id, shown)): (usize, (&String, &Quote))| {
        let range = ["1h", "24h", "7d", "30d", "90d"][position % 5];
        let now = if range == "1h" { START } else { now };
        let [point] = &points(&cloud, id, range, now).await[..] else { panic!("{id} in {range}") };
        for (kept, spelled) in [(&point.sell_price, &shown.sell_price), (&point.buy_price, &shown.buy_price)]
        {
            assert!(is_nearest_hundredth(kept.get(), spelled), "{id}: {kept} for {spelled}");
        }
        assert_eq!(point.sell_volume.to_string(), shown.sell_volume, "{id}");
        assert_eq!(point.buy_volume.to_string(), shown.buy_volume, "{id}");
    };
    stream::iter(market.0.iter().enumerate()).for_each_concurrent(4, compare).await;
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_product_needs_a_buy_order_or_a_sell_order_to_be_recorded() {
    let cloud = start().await;
    let market = Market::default()
        .with("BOTH", quote("2.0", "3.0", 1, 1))
        .with("NO_SELL_ORDERS", quote("2.5", "0.0", 9, 0))
        .with("NO_BUY_ORDERS", quote("0.0", "3.5", 0, 9))
        .with("NO_ORDERS", quote("0.0", "0.0", 0, 0))
        .with("ONLY_VOLUME", quote("0", "0", 12, 34));
    assert_eq!(market.record(&cloud, START).await["products"], 3);
    for (id, count) in
        [("BOTH", 1), ("NO_SELL_ORDERS", 1), ("NO_BUY_ORDERS", 1), ("NO_ORDERS", 0), ("ONLY_VOLUME", 0)]
    {
        let points = points(&cloud, id, "24h", START).await;
        assert_eq!(points.len(), count, "{id}");
        if let [point] = &points[..] {
            point.expect(&market.0[id]);
        }
    }
}

/// Waits for the warning that `count` products are left out, with this one among the named.
async fn expect_left_out(cloud: &Cloud, count: usize, some: &str) {
    await_logs(cloud, 1, |line| {
        line["level"] == "WARN"
            && line["count"] == count
            && line["some"].as_str().is_some_and(|named| named.contains(some))
    })
    .await;
}

#[tokio::test]
async fn products_with_an_invalid_id_or_quote_are_left_out_with_a_warning() {
    let cloud = start().await;
    let good = quote("1.0", "2.0", 3, 4);
    let longest = "L".repeat(64);
    let legal =
        Market::default().with("FIRST", good.clone()).with(&longest, good.clone()).with("ZZZ", good.clone());
    let too_long = "L".repeat(65);
    let ids = ["", "lower_case", "A B", "A#B", "A.B", "É", "\"", "\u{1f525}", "pk", too_long.as_str()];
    for (number, id) in (0..).zip(ids) {
        // Ten minutes apart, so that no chart is served from the cache.
        let tick = START + number * 10 * MINUTE;
        let recorded = legal.clone().with(id, good.clone()).record(&cloud, tick).await;
        assert_eq!(recorded["products"], 3, "beside {id:?}");
        expect_left_out(&cloud, 1, &id.chars().take(64).collect::<String>()).await;
        for id in ["FIRST", &longest, "ZZZ"] {
            let points = points(&cloud, id, "1h", tick).await;
            assert!(times(&points).contains(&rfc3339(tick).as_str()), "{id} in {points:?}");
        }
    }
    let tick = START + DAY;
    let prices = legal
        .with("NEGATIVE", quote("-1.0", "2.0", 3, 4))
        .with("NEGATIVE_TOO", quote("1.0", "-0.01", 3, 4))
        .with("TOO_MUCH", quote("1.0", "1.1E12", 3, 4))
        .with("NEGATIVE_VOLUME", quote("1.0", "2.0", -3, 4))
        .with("NEGATIVE_VOLUME_TOO", quote("1.0", "2.0", 3, -4));
    assert_eq!(prices.record(&cloud, tick).await["products"], 3);
    expect_left_out(&cloud, 5, "NEGATIVE_VOLUME, ").await;
    for id in ["NEGATIVE", "NEGATIVE_TOO", "TOO_MUCH", "NEGATIVE_VOLUME", "NEGATIVE_VOLUME_TOO"] {
        assert_eq!(points(&cloud, id, "90d", tick).await.len(), 0, "{id}");
    }
    let text = format!("{:?}", table::dump(&cloud).await);
    assert!(text.contains("ZZZ") && !text.contains("NEGATIVE") && !text.contains("lower_case"));
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn one_unreadable_product_does_not_affect_the_others() {
    let cloud = start().await;
    let nonsense = [
        ("NULL", quote("null", "2.0", 3, 4)),
        ("TEXT", quote("1.0", "\"2.0\"", 3, 4)),
        ("OBJECT", quote("{}", "2.0", 3, 4)),
        ("LIST", quote("1.0", "[2.0]", 3, 4)),
        ("BEYOND_ALL_NUMBERS", quote("1e400", "2.0", 3, 4)),
    ];
    for (number, (id, quote_of_it)) in (0..).zip(nonsense) {
        let tick = START + number * 10 * MINUTE;
        let market = Market::of("A", quote("1.0", "2.0", 3, 4)).with(id, quote_of_it);
        assert_eq!(market.with("Z", quote("0.5", "2.0", 3, 4)).record(&cloud, tick).await["products"], 2);
        expect_left_out(&cloud, 1, id).await;
        assert!(times(&points(&cloud, "Z", "1h", tick).await).contains(&rfc3339(tick).as_str()), "{id}");
    }
    // Rounded to the nearest cent, the price of DUST is 0.
    let worthless = Market::of("A", quote("1.0", "2.0", 3, 4)).with("DUST", quote("0.004", "0.0", 3, 4));
    assert_eq!(worthless.record(&cloud, START + DAY).await["products"], 1);
    expect_clean_logs(&cloud);
}

#[tokio::test]
async fn a_market_without_prices_fails_and_the_retry_records_the_tick() {
    let cloud = start_with(without_repeated_fetches()).await;
    let nothing = quote("0.0", "0.0", 0, 0);
    let illegal = quote("-1", "-1", 0, 0);
    for market in
        [Market::default(), Market::of("A", nothing).with("B", quote(0, 0, 5, 5)), Market::of("A", illegal)]
    {
        market.show(&cloud);
        let cause = failure(&cloud, RECORDER, event(START)).await;
        assert!(cause.contains("no product has a price"), "{cause}");
        assert!(table::dump(&cloud).await.is_empty(), "nothing is written");
    }
    let good = quote("1.0", "2.0", 3, 4);
    assert_eq!(Market::of("A", good.clone()).record(&cloud, START).await["products"], 1);
    points(&cloud, "A", "1h", START).await[0].expect(&good);
}

#[tokio::test]
async fn the_bazaar_recorder_fetches_at_every_tick() {
    let cloud = start_with(without_repeated_fetches()).await;
    for minute in 0..4 {
        let market = Market::of("A", quote(format!("{minute}.5"), "9.0", minute, 7));
        market.record(&cloud, START + minute * MINUTE).await;
        assert_eq!(simulator(&cloud).requests(BAZAAR), u64::try_from(minute + 1).unwrap());
    }
    // If the provider fails, the recorder uses no earlier response.
    simulator(&cloud).set_fault(BAZAAR, Fault::status(503));
    let before = table::dump(&cloud).await;
    let cause = failure(&cloud, RECORDER, event(START + 4 * MINUTE)).await;
    assert!(cause.contains("503") && cause.contains(BAZAAR), "{cause}");
    table::expect_same(&table::dump(&cloud).await, &before, "after a failure");
    let points = points(&cloud, "A", "1h", START + 5 * MINUTE).await;
    assert_eq!(points.len(), 4);
    for (minute, point) in points.iter().enumerate() {
        point.expect(&quote(format!("{minute}.5"), "9.0", minute, 7));
    }
}

#[tokio::test]
async fn the_other_recorders_fetch_at_every_tick() {
    let cloud = start_with(without_repeated_fetches()).await;
    for (recorder, path) in
        [("record-mayor", "/v2/resources/skyblock/election"), ("record-fire-sales", "/v2/skyblock/firesales")]
    {
        for times in 1..4 {
            // Even if the event is the same.
            record(&cloud, recorder, START).await;
            assert_eq!(simulator(&cloud).requests(path), times, "{recorder}");
        }
        simulator(&cloud).set_fault(path, Fault::status(503));
        let cause = failure(&cloud, recorder, event(START)).await;
        assert!(cause.contains("503") && cause.contains(path), "{cause}");
    }
}

#[tokio::test]
async fn an_unknown_item_has_no_points() {
    let cloud = start().await;
    let empty = |range: &str| json!({"item_id": "NOTHING", "range": range, "dataPoints": 0, "history": []});
    for range in ["1h", "24h", "7d", "30d", "90d"] {
        let path = format!("/v1/bazaar/history?item_id=NOTHING&range={range}");
        assert_eq!(get_at(&cloud, &path, START * 1_000).await.data(), empty(range), "an empty table");
    }
    Market::of("SOMETHING", quote("1.0", "2.0", 3, 4)).record(&cloud, START).await;
    for range in ["1h", "24h", "7d", "30d", "90d"] {
        let path = format!("/v1/bazaar/history?item_id=NOTHING&range={range}");
        // After the cached response has expired.
        let response = get_at(&cloud, &path, (START + 10 * MINUTE) * 1_000).await;
        assert!(!response.cached());
        assert_eq!(response.data(), empty(range), "beside another item");
    }
    let by_default = get_at(&cloud, "/v1/bazaar/history?item_id=SOMETHING", START * 1_000).await;
    assert_eq!(chart::read(&by_default, "SOMETHING", "24h").len(), 1, "the range is 24h by default");
}
