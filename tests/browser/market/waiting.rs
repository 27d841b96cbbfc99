//! The page requests data again when `Retry-After` or `Expires` allows it, and never while the tab is hidden.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use local::{Cloud, Options};

use super::{open, settle};
use crate::auctions::record_prices;
use crate::cloud::start;
use crate::window::{Request, Window};

/// Checks that requests were repeated after responses with this status, but never before their `Retry-After`
/// had passed.
#[track_caller]
pub(super) fn expect_waits(window: &Window, status: u64) {
    let mut latest = BTreeMap::new();
    let mut waits = 0;
    for Request { url, sent_at_ms, response, .. } in window.requests("") {
        if let Some((refused_at, seconds)) = latest.remove(&url) {
            let waited: f64 = (sent_at_ms - refused_at) / 1_000.0;
            assert!(waited >= seconds, "{url} was repeated after {waited} s, not {seconds} s");
            waits += 1;
        }
        if response["status"] == status {
            let seconds: f64 = response["headers"]["retry-after"].as_str().unwrap().parse().unwrap();
            latest.insert(url, (sent_at_ms, seconds));
        }
    }
    assert!(waits > 0, "no request was repeated");
}

/// Minimizes the window, so that its page is hidden, or restores the window.
async fn hide(window: &Window, is_hidden: bool) {
    let state = if is_hidden { "minimized" } else { "normal" };
    let id = window.call("Browser.getWindowForTarget", json!({})).await["windowId"].take();
    let bounds = json!({"windowId": id, "bounds": {"windowState": state}});
    window.call("Browser.setWindowBounds", bounds).await;
    window.wait(&format!("document.hidden === {is_hidden}")).await;
}

/// The times of the requests for prices, in Unix milliseconds.
fn sent(window: &Window) -> Vec<f64> {
    window.requests("/v1/bazaar?mode=prices").iter().map(|request| request.sent_at_ms).collect()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_are_requested_again_when_they_expire_but_not_while_the_tab_is_hidden() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    settle(&window).await;
    while sent(&window).len() < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Prices stay fresh for five seconds, but the times in headers are whole seconds, so a wait can be
    // shorter.
    let before = sent(&window);
    assert!(before[1] - before[0] > 3_000.0, "{before:?}");
    hide(&window, true).await;
    let before = sent(&window);
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert_eq!(sent(&window), before, "a hidden tab must send no requests");
    hide(&window, false).await;
    while sent(&window).len() == before.len() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_opened_before_anything_is_recorded_finds_the_prices_without_a_reload() {
    let cloud = Cloud::start(Options::for_tests()).await.unwrap();
    let window = open(&cloud, "?view=auctions").await;
    window.wait("document.querySelector('[data-status=\"500\"]')").await;
    let next =
        "Number(/Next try in (\\d+) s/.exec(document.querySelector('[data-status=\"500\"]').innerText)[1])";
    let seconds = window.evaluate(next).await.as_u64().unwrap();
    assert!(seconds <= 20, "{seconds}");
    record_prices(&cloud).await;
    window.wait("document.querySelectorAll('tbody th a').length > 10").await;
    window.wait("!document.querySelector('[data-status]')").await;
    expect_waits(&window, 500);
    window.click("link", "Items").await;
    window.wait("document.querySelectorAll('tbody th a').length > 10").await;
    window.expect_clean(&["Failed to load resource"]);
}
