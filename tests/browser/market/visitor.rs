//! Without a key, the page shows the prices of the public files, if there are any.

use local::{Cloud, Options};
use serde_json::json;

use super::defects::{go, replace, stop_clock};
use super::{settle, texts_of};
use crate::cloud::{ITEM, pro_key};
use crate::window::Window;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_without_a_key_sees_the_prices_of_the_public_files() {
    let cloud = Cloud::start(Options { public_files: true, ..Options::for_tests() }).await.unwrap();
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    let event = json!({"time": time.to_string(), "backfill": true}).to_string();
    for recorder in ["record-auctions", "record-bazaar", "record-candles"] {
        // On a busy machine, a run reads only some pages of auctions, and the next run reads the others.
        let mut repetitions = 0..10;
        while let Err(error) = cloud.invoke(recorder, event.clone()).await {
            assert!(repetitions.next().is_some(), "{error}");
        }
    }
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    for (view, heading) in [("items", "Items"), ("flips", "Flips"), ("auctions", "Auctions")] {
        window.open(&format!("/market?view={view}")).await;
        window.wait_for("heading", heading).await;
        window.wait_for_text("You see the market without a key").await;
        window.wait("document.querySelectorAll('tbody tr th a').length > 10").await;
    }
    window.open(&format!("/market?view=watch&ids={ITEM}")).await;
    window.wait("/[0-9]/.test(document.querySelector('tbody td')?.innerText)").await;
    window.open("/market").await;
    settle(&window).await;
    assert_eq!(texts_of(&window, "h2").await, ["Movers", "Most traded", "Best flips"]);
    window.wait_for_text("✓ Healthy: prices of the bazaar ").await;
    window.inspect("market-visitor").await;
    // Only days have files. A change names the end of the last one.
    stop_clock(&window, "2026-11-28T00:30:00Z").await;
    go(&window, "?view=items").await;
    window
        .wait("document.querySelector('thead th:nth-child(8)')?.innerText === 'Since 27 Nov, 00:00 UTC'")
        .await;
    window.press("/").await;
    window.type_text("enchanted diamond").await;
    window.wait("document.querySelectorAll('[role=option]').length > 0").await;
    assert!(window.requests("/v1/").is_empty(), "{:?}", window.requests("/v1/"));

    // All visitors and uptime monitors share the rate limit of the status, so only its view requests it.
    replace(&window, "v1/status", "new Response('{}', { status: 429 })").await;
    go(&window, "?view=status").await;
    window.wait_for_text("All visitors together have sent too many requests for now.").await;

    // Views that need a key ask for one.
    window.open("/market?view=mayor").await;
    window.wait_for("heading", "Your API key").await;
    window.open("/market").await;
    window.click("link", "Enter a key").await;
    window.focus("textbox", "API key").await;
    window.type_text(&key).await;
    window.press("Enter").await;
    window.wait_for("heading", "Mayor").await;
    assert_eq!(window.address().await, "/market");
    window.expect_clean(&[]);
}
