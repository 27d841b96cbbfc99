//! The status of the feeds.

use super::{NOTHING, texts_of};
use crate::cloud::{key, start};
use crate::window::Window;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_feed_says_in_words_whether_it_is_healthy_and_without_a_key() {
    let cloud = start().await;
    let time = jiff::Timestamp::from_millisecond(cloud.clock().now_ms()).unwrap();
    cloud.invoke("record-mayor", format!(r#"{{"time":"{time}","backfill":true}}"#)).await.unwrap();
    let mut window = Window::new(&cloud.url(), &key(&cloud)).await;
    window.open("/market?view=status").await;
    window.wait_for_text("Not healthy: Bazaar prices, Candles, Fire sales, Auction prices.").await;
    let states = texts_of(&window, "[data-feed] > p").await;
    assert_eq!(states, ["✕ Not healthy", "✕ Not healthy", "✓ Healthy", "✕ Not healthy", "✕ Not healthy"]);
    assert_eq!(texts_of(&window, "[data-feed=bazaar] dd").await[..2], ["Nothing yet", "–"]);
    assert_eq!(window.inspect("market-status-unhealthy").await, NOTHING);
    window.expect_clean(&[]);
}
