//! A young service: the page requests only days that have files, and names when its prices begin.

use local::{Cloud, Options};
use serde_json::json;

use super::decide::product;
use super::defects::{go, replace, stop_clock};
use super::{open, settle, texts_of};
use crate::cloud::ITEM;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_days_in_the_list_of_days_are_requested() {
    let cloud = Cloud::start(Options { public_files: true, ..Options::for_tests() }).await.unwrap();
    let window = open(&cloud, "?view=status").await;
    let coal = product("COAL", [5.0, 6.0], [5.0, 6.0], 7);
    let csv =
        "new Response('item_id,sell_offer_close\\nCOAL,5\\n', { headers: { 'content-type': 'text/csv' } })";
    for (days, expected) in [
        (json!([]), vec![]),
        // The hour 24 hours ago, and the days of the list.
        (
            json!(["2026-11-26", "2026-11-27"]),
            vec![
                "1d&opened_at=2026-11-26T00:00:00Z",
                "1d&opened_at=2026-11-27T00:00:00Z",
                "1h&opened_at=2026-11-27T12:00:00Z",
            ],
        ),
        (json!(["2026-11-28"]), vec![]),
    ] {
        let list = json!({"bazaar": days, "auctions": []});
        // Without the time of a response, the page uses the stopped clock.
        let response = format!(
            "path.endsWith('days/index.json') ? new Response('{list}') : path.includes('candles/all?') ? {csv}
             : path.includes('mode=prices') ? success({{ lastUpdated: 0, items: [{coal}] }}) : new Promise(() => {{}})"
        );
        window.open("/market?view=status").await;
        stop_clock(&window, "2026-11-28T12:30:00Z").await;
        replace(&window, "", &response).await;
        go(&window, "?view=items").await;
        window.wait("document.querySelectorAll('tbody th a').length === 1").await;
        settle(&window).await;
        let requested = "asked.map(([path]) => path).filter((path) => path.includes('candles/all?')).sort()";
        window.wait(&format!("{requested}.length >= {}", expected.len())).await;
        let expected: Vec<_> =
            expected.iter().map(|part| format!("v1/bazaar/candles/all?interval={part}&format=csv")).collect();
        assert_eq!(window.evaluate(requested).await, json!(expected), "{list}");
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_has_just_begun_names_its_begin_and_is_requested_every_minute() {
    let cloud = Cloud::start(Options::for_tests()).await.unwrap();
    let window = open(&cloud, "?view=status").await;
    stop_clock(&window, "2026-11-28T12:30:00Z").await;
    window
        .evaluate(
            "window.every = setInterval; void (window.setInterval = (act, delay) => every(act, delay / 200))",
        )
        .await;
    // Five minutes each from 10:35 to 12:25, and later from 9:05.
    let candles = "(from) => Array.from({ length: (Date.parse('2026-11-28T12:30:00Z') - from) / 300000 }, (_, index) => ({
        opened_at: new Date(from + index * 300000).toISOString(), complete: true, buy_order_close: 5, sell_offer_close: 9 }))";
    let begin = "path.includes('&from=') ? '2026-11-28T09:05:00Z' : '2026-11-28T10:35:00Z'";
    let book = json!({
        "topBuyOrder": 5, "topSellOffer": 9, "buyOrders": [], "sellOffers": [], "sellPrice": 5, "buyPrice": 9,
    });
    let response = format!(
        "path.includes('interval=5m') ? success({{ candles: ({candles})(Date.parse({begin})), next_before: null }})
         : path.includes('candles?') ? success({{ candles: [], next_before: null }}) : path.includes('mode=') ? success({{ ...{book}, lastUpdated: Date.now() }}) : new Promise(() => {{}})"
    );
    replace(&window, "v1/", &response).await;
    go(&window, &format!("?item={ITEM}")).await;
    window
        .wait_for_text(
            "No data before 28 Nov 2026, 10:35. The first complete hour is that of 28 Nov 2026, 11:00.",
        )
        .await;
    window.wait_for_text("Bars of daily trade need nine days of prices.").await;
    window.evaluate("void (Date.now = () => Date.parse('2026-11-28T12:31:30Z'))").await;
    window
        .wait_for_text(
            "No data before 28 Nov 2026, 09:05. The first complete hour is that of 28 Nov 2026, 10:00.",
        )
        .await;
    assert!(
        window.evaluate("asked.some(([path]) => path.includes('&from=2026-11-27T12:31:00Z'))").await == true
    );
    assert_eq!(texts_of(&window, ".now dt").await, ["Best buy order", "Best sell offer", "Change"]);
    window.inspect("market-young-item").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_screen_of_a_phone_has_the_present_prices_the_change_and_the_chart() {
    let cloud = crate::cloud::start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}")).await;
    super::chart::drawn(&window).await;
    let metrics = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    window.call("Emulation.setDeviceMetricsOverride", metrics).await;
    let bottoms = "['.now', '.plots canvas', '.past-bar'].map((selector) => document.querySelector(selector).getBoundingClientRect())
        .map(({ top, bottom }) => [top, bottom])";
    let places: Vec<[f64; 2]> = serde_json::from_value(window.evaluate(bottoms).await).unwrap();
    assert!(places.is_sorted_by_key(|[top, _]| *top) && places[1][1] < 844.0, "{places:?}");
    assert!(
        texts_of(&window, ".now dd")
            .await
            .iter()
            .all(|text| text.contains(|digit: char| digit.is_ascii_digit()))
    );
    window.expect_clean(&[]);
}
