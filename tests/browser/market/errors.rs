//! Where data are missing, one sentence explains the cause.

use local::{Cloud, Options};
use simulator::Fault;

use super::defects::replace;
use super::{open, settle};
use crate::cloud::{ITEM, start, start_with, start_with_past};
use crate::window::Window;

/// Chromium's message about an error response.
const FAILED: &[&str] = &["Failed to load resource"];

async fn open_with(cloud: &Cloud, key: &str) -> Window {
    let window = Window::new(&cloud.url(), key).await;
    window.open(&format!("/market?view=flips#key={key}")).await;
    window
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_and_a_lapsed_subscription_get_a_sentence_and_a_way_to_enter_another_key() {
    let cloud = start().await;
    let keys = cloud.keys().unwrap();
    let window = open_with(&cloud, keys.lapsed.expose()).await;
    window.wait("document.querySelector('[data-status=\"403\"]')").await;
    window.wait_for_text("has no active paid subscription").await;
    window.wait_for("link", "https://dashboard.example").await;
    window.inspect("market-403").await;
    window.expect_clean(FAILED);
    let window = open_with(&cloud, keys.revoked.expose()).await;
    window.wait("document.querySelector('[data-status=\"401\"]')").await;
    window.wait_for_text("The service does not accept this key.").await;
    window.click("button", "Enter another key").await;
    window.wait_for("heading", "Your API key").await;
    window.expect_clean(FAILED);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_throttled_key_sees_the_seconds_and_then_the_data() {
    // With a burst of one request, some of a view's simultaneous requests are refused.
    let parameters = [("ProRateLimit", "0.5"), ("ProBurstLimit", "1")];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let cloud = start_with(Options { parameters: parameters.into(), ..Options::for_tests() }).await;
    let window = open(&cloud, "?view=mayor").await;
    window.wait("document.querySelector('[data-status=\"429\"]')").await;
    window
        .wait("/Next try in \\d+ s/.test(document.querySelector('[data-status=\"429\"]')?.innerText)")
        .await;
    window.inspect("market-429").await;
    window.wait("!document.querySelector('[data-status]')").await;
    settle(&window).await;
    window.wait_for("heading", "In office").await;
    super::waiting::expect_waits(&window, 429);
    window.expect_clean(FAILED);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_problem_of_the_service_is_told_and_the_page_asks_again() {
    let cloud = start().await;
    let simulator = cloud.simulator().unwrap();
    simulator.set_fault("/v2/skyblock/bazaar", Fault::status(503));
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    window.wait_for_text("No prices were recorded in this time.").await;
    window.wait("document.querySelector('[data-status=\"500\"]')").await;
    window.inspect("market-item-500").await;
    let window = open(&cloud, "?view=flips").await;
    window.wait_for_text("The service has a problem at the moment.").await;
    simulator.clear_faults();
    window.wait("!document.querySelector('[data-status]')").await;
    settle(&window).await;
    window.wait("document.querySelectorAll('tbody tr').length > 10").await;
    super::waiting::expect_waits(&window, 500);
    window.expect_clean(FAILED);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_cause_is_told_once_and_moves_no_chart() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    super::chart::drawn(&window).await;
    settle(&window).await;
    let place = "JSON.stringify(document.querySelector('.plots').getBoundingClientRect())";
    let before = window.evaluate(place).await;
    replace(&window, "v1/bazaar", "new Response('{}', { status: 503 })").await;
    let count = "document.querySelectorAll('[data-status]').length";
    window.wait(&format!("asked.length > 1 && {count}")).await;
    settle(&window).await;
    assert_eq!(window.evaluate(count).await, 1, "{}", window.text().await);
    assert_eq!(window.evaluate(place).await, before);
    window.inspect("market-item-stale").await;

    let revoked = cloud.keys().unwrap().revoked.expose();
    for query in ["?", &format!("?item={ITEM}")] {
        window.open(&format!("/market{query}#key={revoked}")).await;
        window.wait("document.querySelector('[data-status=\"401\"]')").await;
        settle(&window).await;
        assert_eq!(window.evaluate(count).await, 1, "{query}: {}", window.text().await);
        assert_eq!(window.text().await.matches("does not accept this key").count(), 1, "{query}");
    }
    window.expect_clean(FAILED);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_connection_old_data_stay_and_new_ones_come_when_it_is_back() {
    let cloud = start().await;
    // The code of the tables is loaded with the first one.
    let window = open(&cloud, "?view=auctions").await;
    settle(&window).await;
    window.click("link", "Status").await;
    window.wait_for_text("Bazaar prices").await;
    settle(&window).await;
    window.block(&["*"]).await;
    window.click("link", "Items").await;
    window.wait("document.querySelector('[data-status=\"0\"]')").await;
    window.wait_for_text("The service cannot be reached.").await;
    window.inspect("market-offline").await;
    window.click("link", "Status").await;
    window.wait_for_text("Bazaar prices").await;
    window.click("link", "Items").await;
    window.block(&[]).await;
    window.wait("document.querySelectorAll('tbody tr').length > 10").await;
    window.wait("!document.querySelector('[data-status]')").await;
    window.expect_clean(FAILED);
}
