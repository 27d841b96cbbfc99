//! Up to four items are compared in one chart by their relative changes, and copied links show the same
//! chart.

use serde_json::json;

use super::chart::{WATCH, drawn};
use super::defects::go;
use super::{open, settle, texts_of};
use crate::auctions::{BOOK, PET};
use crate::cloud::{ITEM, NAME, pro_key, start_with_past, start_with_past_of_auctions};

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_compared_by_their_changes_and_unknown_ids_take_nothing_down() {
    let cloud = start_with_past_of_auctions().await;
    let window = open(&cloud, "?view=status").await;
    window.evaluate(WATCH).await;
    go(&window, &format!("?item={ITEM}&range=1h")).await;
    drawn(&window).await;
    let entries = async || texts_of(&window, ".compared li").await;
    assert!(entries().await.is_empty());
    window.focus("combobox", "Compare with").await;
    window.type_text("no such item at all").await;
    window.press("Enter").await;
    window.wait_for_text("No active item has such a name or id.").await;
    window.evaluate("document.querySelector('.compare input').select()").await;
    window.type_text("coal").await;
    window.wait("document.querySelector('#others option')?.value === 'COAL'").await;
    window.press("Enter").await;
    window.wait("location.search.endsWith('&with=COAL')").await;
    window.wait("/%/.test(document.querySelectorAll('.compared li')[1]?.innerText)").await;
    window.wait("drawnTexts.includes('Coal')").await;
    assert!(entries().await[0].starts_with(NAME), "{:?}", entries().await);
    let begins = "plots.at(-2).data.slice(1).map((values) => values.includes(100))";
    assert_eq!(window.evaluate(begins).await, json!([true, true]), "both items must begin at 100");

    let many = format!("COAL,NO_SUCH_ITEM,{ITEM},DIAMOND,COBBLESTONE");
    window.open(&format!("/market?item={ITEM}&range=1h&with={many}")).await;
    window.wait_for_text("No prices of NO_SUCH_ITEM in this time. Check the id.").await;
    settle(&window).await;
    assert_eq!(entries().await.len(), 4, "{:?}", entries().await);
    assert_eq!(texts_of(&window, ".compare").await, [""; 0], "at most four items can be compared");
    window.inspect("market-item-compared").await;
    window.click("button", "Remove No Such Item").await;
    window.wait("location.search.endsWith('&with=COAL%2CDIAMOND')").await;
    let [pet, book] = [PET, BOOK].map(|id| id.replace(';', "%3B"));
    window.open(&format!("/market?item={pet}&market=auctions&with={book}")).await;
    window.wait("/%.*Growth V/s.test(document.querySelector('.compared')?.innerText)").await;
    drawn(&window).await;
    window.inspect("market-auction-compared").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_have_the_range_or_the_times_and_never_the_key() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d&style=candles")).await;
    drawn(&window).await;
    window.evaluate("void (navigator.clipboard.writeText = async (text) => { window.copied = text; })").await;
    window.click("button", "Copy link").await;
    window.wait_for_text("Copied.").await;
    let base = cloud.url();
    assert_eq!(window.evaluate("copied").await, format!("{base}/market?item={ITEM}&range=7d&style=candles"));
    // Without a clipboard, the page shows the link.
    window.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))").await;
    window.click("button", "These times").await;
    window.wait("document.activeElement.ariaLabel === 'Text to copy'").await;
    let selected = "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)";
    let text = window.evaluate(selected).await;
    let link = text.as_str().unwrap();
    assert!(
        link.contains("&from=20") && link.contains("&to=20") && !link.contains(&pro_key(&cloud)),
        "{link}"
    );
    window.inspect("market-item-link").await;
    window.open(link.strip_prefix(&base).unwrap()).await;
    drawn(&window).await;
    window.expect_clean(&[]);
}
