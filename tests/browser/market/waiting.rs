//! When the page requests data again: as `Retry-After` and `Expires` say, and not while the tab is hidden.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{open, settle};
use crate::cloud::start;
use crate::window::Window;

/// Panics if a request was repeated sooner after a response of this status than its `Retry-After` says, or if none was.
#[track_caller]
pub(super) fn expect_waits(window: &Window, status: u64) {
    let seen = window.seen();
    let mut latest = BTreeMap::new();
    let mut waits = 0;
    for request in seen.requests() {
        if let Some((refused_at, seconds)) = latest.remove(&request.url) {
            let waited: f64 = (request.sent_at_ms - refused_at) / 1_000.0;
            assert!(waited >= seconds, "{} was repeated after {waited} s, not {seconds} s", request.url);
            waits += 1;
        }
        if request.status == Some(status) {
            let seconds: f64 = request.response_headers["retry-after"].parse().unwrap();
            latest.insert(request.url.clone(), (request.sent_at_ms, seconds));
        }
    }
    assert!(waits > 0, "no request was repeated");
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_are_requested_again_when_they_expire_but_not_while_the_tab_is_hidden() {
    let cloud = start().await;
    let window = open(&cloud, "?view=flips").await;
    settle(&window).await;
    let count = |window: &Window| window.seen().requests_for("/v1/bazaar?mode=prices").len();
    while count(&window) < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    settle(&window).await;
    let sent: Vec<f64> = window
        .seen()
        .requests_for("/v1/bazaar?mode=prices")
        .iter()
        .map(|request| request.sent_at_ms)
        .collect();
    // Prices are fresh for five seconds, by headers with whole seconds.
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] > 3_000.0), "{sent:?}");
    window.hide(true).await;
    let before = count(&window);
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(count(&window), before, "nothing is requested while the tab is hidden");
    window.hide(false).await;
    while count(&window) == before {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    window.expect_clean(&[]);
}
