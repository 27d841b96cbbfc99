//! Watched items and their target prices stay on the device, and a link carries the items.

use serde_json::json;

use super::{open, settle, texts_of};
use crate::cloud::{ITEM, NAME, start};
use crate::window::Window;

/// The stored watch list.
const KEPT: &str = "JSON.parse(localStorage.getItem('watched'))";

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_starred_item_is_in_the_list_of_every_tab_with_its_target() {
    let cloud = start().await;
    let key = crate::cloud::pro_key(&cloud);
    let window = open(&cloud, "?view=items&filter=enchanted+diamond").await;
    settle(&window).await;
    window.click("button", &format!("Watch {NAME}")).await;
    window.open("/market?view=auctions").await;
    settle(&window).await;
    window.evaluate("document.querySelector('tbody .star').click()").await;
    let other = window.tab(&key).await;
    other.open("/market?view=watch").await;
    settle(&other).await;
    assert_eq!(texts_of(&other, "tbody th a").await.len(), 2);

    window.to_front().await;
    window.click("link", "Watched").await;
    settle(&window).await;
    window.wait("[...document.querySelectorAll('tbody td')].filter((cell) => /^[0-9,.]+/.test(cell.innerText)).length === 3").await;
    window.focus("textbox", &format!("Target price of {NAME}")).await;
    window.type_text("10b").await;
    window.press("Tab").await;
    window.wait_for_text("✓ Reached").await;
    // A text that is not an amount changes nothing, and a message says so.
    let field = format!("document.querySelector('[aria-label=\"Target price of {NAME}\"]')");
    window.evaluate(&format!("{field}.select()")).await;
    window.focus("textbox", &format!("Target price of {NAME}")).await;
    window.evaluate(&format!("{field}.select()")).await;
    window.type_text("1.5mil").await;
    window.press("Tab").await;
    window.wait_for_text("An amount of coins").await;
    assert_eq!(
        window.evaluate(&format!("{KEPT}[0]")).await,
        json!({"id": ITEM, "target": 10_000_000_000_u64})
    );
    window.inspect("market-watched").await;
    let items: Vec<_> =
        window.requests("/v1/bazaar?mode=items").into_iter().map(|request| request.url).collect();
    assert!(!items.is_empty() && items.iter().all(|url| url.ends_with(&format!("ids={ITEM}"))), "{items:?}");
    other.to_front().await;
    other.wait_for_text("✓ Reached").await;
    other.click("button", &format!("Watch {NAME}")).await;
    other.wait("document.querySelectorAll('tbody tr').length === 1").await;
    for window in [window, other] {
        window.expect_clean(&[]);
    }
}

/// Stores this text as the watch list, and reloads the page.
async fn store(window: &Window, text: &str) {
    window.evaluate(&format!("localStorage.setItem('watched', {text:?})")).await;
    window.reload().await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_carries_the_items_and_takes_nothing_from_the_own_list() {
    let cloud = start().await;
    let window = open(&cloud, "?view=watch").await;
    window.wait_for_text("Nothing is watched yet.").await;
    store(&window, "[{\"id\":\"COAL\"},7,{\"id\":\"a b\"},{\"id\":\"X\",\"market\":\"moon\"}]").await;
    window.wait("document.querySelectorAll('tbody tr').length === 1").await;
    store(&window, "{").await;
    window.wait_for_text("Nothing is watched yet.").await;

    let long = "Z".repeat(65);
    window
        .open(&format!(
            "/market?view=watch&ids=INK_SACK:3,NO_SUCH_ITEM,INK_SACK:3,{long}&auctions=HYPERION,A%20B"
        ))
        .await;
    window.wait_for("heading", "Shared items").await;
    settle(&window).await;
    assert_eq!(texts_of(&window, "tbody small").await, ["Bazaar", "Bazaar", "Auctions"]);
    window.click("button", "Watch all of them").await;
    window
        .wait("document.querySelectorAll('tbody tr').length === 3 && location.search === '?view=watch'")
        .await;
    window.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; undefined").await;
    window.click("button", "Copy link to this list").await;
    window.wait_for_text("Copied.").await;
    let link = format!("{}/market?view=watch&ids=INK_SACK:3%2CNO_SUCH_ITEM&auctions=HYPERION", cloud.url());
    assert_eq!(window.evaluate("copied").await, link);
    window.expect_clean(&[]);
}
