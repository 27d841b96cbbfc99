//! Fire sales and their countdowns.

use std::time::Duration;

use serde_json::json;
use simulator::Fault;

use super::{NOTHING, open, settle};
use crate::cloud::start;
use crate::hostile;

/// Counts, from now on, how often the page changes a countdown.
const COUNT: &str = "(() => { window.ticks = 0; \
    new MutationObserver(() => { window.ticks += 1; }) \
        .observe(document.querySelector('.countdown'), { subtree: true, characterData: true, childList: true }); })()";

/// An announced sale that starts and ends this many milliseconds from now.
fn sale(now: i64, start: i64, end: i64) -> Fault {
    let sale = json!({"item_id": "PET_SKIN_SHEEP_NEON", "start": now + start, "end": now + end, "amount": 500, "price": 1_000});
    Fault::status(200).with_body(json!({"success": true, "sales": [sale]}).to_string())
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sale_starts_and_ends_without_a_request() {
    let cloud = start().await;
    let now = cloud.clock().now_ms();
    cloud.simulator().unwrap().set_fault("/v2/skyblock/firesales", sale(now, 600_000, 1_200_000));
    let window = open(&cloud, "?view=sales").await;
    window.wait_for_text("Announced, starts in").await;
    // The next response would correct the clock.
    settle(&window).await;
    window.evaluate("void (now = Date.now, later = 700000, Date.now = () => now() + later)").await;
    window.wait_for_text("On sale, ends in").await;
    window.evaluate("void (later = 1300000)").await;
    window.wait_for_text("This sale has ended.").await;
    let requests = window.seen().requests().filter(|request| request.url.ends_with("/v1/fire-sales")).count();
    assert_eq!(requests, 1);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn countdowns_tick_every_second_but_not_in_a_hidden_tab() {
    let cloud = start().await;
    hostile::announce_fire_sales(&cloud);
    let mut window = open(&cloud, "?view=sales").await;
    window.wait_for_text("On sale, ends in").await;
    window.wait_for_text("Announced, starts in").await;
    assert_eq!(window.inspect("market-sales-announced").await, NOTHING);
    let before = window.seen().layout_shift();
    window.evaluate(COUNT).await;
    window.wait("window.ticks >= 3").await;
    assert!(window.seen().layout_shift() <= before, "{:#?}", window.seen().shifts);
    window.hide(true).await;
    window.evaluate("void (window.ticks = 0)").await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(window.evaluate("window.ticks").await, 0, "in a hidden tab");
    window.hide(false).await;
    window.wait("window.ticks >= 2").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_sales_there_are_sentences() {
    let cloud = start().await;
    let none = Fault::status(200).with_body(r#"{"success":true,"sales":[]}"#);
    cloud.simulator().unwrap().set_fault("/v2/skyblock/firesales", none);
    let window = open(&cloud, "?view=sales").await;
    settle(&window).await;
    window.wait_for_text("No fire sale is on or announced.").await;
    window.wait_for_text("No fire sale has been recorded yet.").await;
    window.expect_clean(&[]);
}
