//! Fire sales have countdowns: a sale starts and ends while its page is open.

use serde_json::json;

use super::defects::{go, replace};
use super::{open, settle};
use crate::cloud::start;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sale_starts_and_ends_while_it_is_shown_and_without_sales_there_are_sentences() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let now = cloud.clock().now_ms();
    let sale =
        json!({"item_id": "COAL", "start": now + 600_000, "end": now + 1_200_000, "amount": 1, "price": 1});
    // All other requests fail, because a response of the service would correct the page's clock.
    let others = "new Response('{}', { status: 404 })";
    let response = format!("path === 'v1/fire-sales' ? success({}) : {others}", json!({"sales": [sale]}));
    replace(&window, "v1/", &response).await;
    go(&window, "?view=sales").await;
    window.wait_for_text("Announced, starts in").await;
    settle(&window).await;
    window.inspect("market-sales-announced").await;
    go(&window, "?").await;
    window.wait_for_text("for 1 gems").await;
    window.wait_for_text("Announced, starts in").await;
    window.evaluate("void (now = Date.now, later = 700000, Date.now = () => now() + later)").await;
    window.wait_for_text("On sale, ends in").await;
    go(&window, "?view=sales").await;
    window.wait_for_text("On sale, ends in").await;
    window.evaluate("void (later = 1300000)").await;
    window.wait_for_text("This sale has ended.").await;

    window.open("/market?view=status").await;
    window.wait_for("button", "Key").await;
    replace(&window, "v1/fire-sales", "success({ sales: [], history: [] })").await;
    go(&window, "?view=sales").await;
    window.wait_for_text("No fire sale is on or announced.").await;
    window.wait_for_text("No fire sale has been recorded yet.").await;
    window.expect_clean(&[]);
}
