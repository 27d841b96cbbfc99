//! The page names the hours at which an item is cheap and dear, in the reader's time zone.

use serde_json::json;

use super::chart::drawn;
use super::{open, texts_of};
use crate::cloud::{ITEM, start_with_past};

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hours_of_the_week_are_a_table_that_is_requested_when_it_is_opened() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    drawn(&window).await;
    let path = format!("/v1/bazaar/candles?item_id={ITEM}&interval=1h&limit=1000");
    assert_eq!(window.requests(&path).len(), 0);
    window.evaluate("document.querySelector('.hours summary').click()").await;
    window.wait("document.querySelectorAll('.hours td').length === 7 * 24").await;
    assert_eq!(window.requests(&path).len(), 1);
    let sentences = "/^Cheapest hour to buy: \\d\\d:00–\\d\\d:00, in the median \\d+\\.\\d\\d% below the day's average\\.\\n\
        Dearest hour to sell: \\d\\d:00–\\d\\d:00, in the median \\d+\\.\\d\\d% above the day's average\\.$/\
        .test(document.querySelector('.hours p').innerText)";
    assert_eq!(window.evaluate(sentences).await, true, "{:?}", texts_of(&window, ".hours p").await);
    let heads = "['caption', 'th[scope=col]', 'th[scope=row]'].map((each) => document.querySelectorAll(`.hours ${each}`).length)";
    assert_eq!(window.evaluate(heads).await, json!([1, 25, 7]));
    let cell = "(({ title, innerText }) => /^Mon 00:00–01:00: /.test(title) && title.includes(innerText.trim()))(document.querySelector('.hours td'))";
    assert_eq!(window.evaluate(cell).await, true);
    window.inspect("market-item-hours").await;
    let orders = texts_of(&window, ".hours td").await;
    window.click("button", "Averages").await;
    window.wait("document.querySelector('.hours caption').innerText.startsWith('Average buy price')").await;
    assert_ne!(texts_of(&window, ".hours td").await, orders);

    window.open("/market?item=COAL&range=24h").await;
    drawn(&window).await;
    window.evaluate("document.querySelector('.hours summary').click()").await;
    window.wait_for_text("This needs 14 days of prices.").await;
    window.expect_clean(&[]);
}
