//! The search, with the keyboard and with the mouse.

use super::{NOTHING, open, settle, texts_of};
use crate::cloud::{ITEM, NAME, start_with_past};

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_found_with_the_keyboard_alone() {
    let cloud = start_with_past().await;
    let mut window = open(&cloud, "?view=status").await;
    settle(&window).await;
    window.press("/").await;
    window.wait("document.activeElement.getAttribute('role') === 'combobox'").await;
    assert_eq!(window.evaluate("document.activeElement.value").await, "", "the slash is not typed");
    window.type_text("enchanted diam").await;
    window.wait("document.querySelectorAll('[role=option]').length > 0").await;
    assert_eq!(window.inspect("market-search").await, NOTHING);
    let options = texts_of(&window, "[role=option]").await;
    assert!(options[0].starts_with(NAME), "{options:?}");
    let selected = "[...document.querySelectorAll('[role=option]')].findIndex((option) => option.ariaSelected === 'true')";
    window.press("ArrowDown").await;
    window.wait(&format!("{selected} === 0")).await;
    window.press("ArrowUp").await;
    window.wait(&format!("{selected} === {}", options.len() - 1)).await;
    window.press("ArrowDown").await;
    window.wait(&format!("{selected} === 0")).await;
    window.press("Enter").await;
    window.wait_for("heading", NAME).await;
    assert_eq!(window.address().await, format!("/market?item={ITEM}"));

    window.press("/").await;
    window.type_text("no such thing").await;
    window.wait_for_text("No active item has such a name or id.").await;
    assert_eq!(window.inspect("market-search-nothing").await, NOTHING);
    window.press("Escape").await;
    window.wait("document.querySelector('[role=combobox]').ariaExpanded === 'false'").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_found_by_its_name_with_the_mouse() {
    let cloud = start_with_past().await;
    let window = open(&cloud, "?view=status").await;
    window.press("/").await;
    window.type_text("Wither Essence").await;
    window.wait("document.querySelector('[role=option] small')?.innerText === 'ESSENCE_WITHER'").await;
    let place = window.place("[role=option]").await;
    window.click_at(place[0] + 20.0, place[1] + place[3] / 2.0).await;
    window.wait_for("heading", "Wither Essence").await;
    window.expect_clean(&[]);
}
