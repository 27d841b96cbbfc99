//! The page is small: at most 45 kB without data, and 80 kB with an item.

use crate::cloud::{ITEM, pro_key, start};
use crate::window::Window;

/// The most bytes of the page with its scripts and styles, compressed.
const MOST_BYTES: f64 = 45_000.0;

/// The most bytes of the page of an item. Data of the API do not count.
const MOST_BYTES_WITH_ITEM: f64 = 80_000.0;

/// The files that the page has loaded, and their sizes as gzip compresses them. The local cloud compresses
/// less, but faster.
const SIZES: &str = "Promise.all([location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)]\
    .filter((name) => !name.includes('/v1/')).map(async (name) => { \
    const stream = (await fetch(name)).body.pipeThrough(new CompressionStream('gzip')); \
    return [name.split('/').pop(), (await new Response(stream).arrayBuffer()).byteLength]; }))";

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_has_at_most_45_kb_without_data_and_80_kb_with_an_item() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open("/market").await;
    window.wait_for("heading", "Your API key").await;
    expect_size(&window, MOST_BYTES).await;
    window.open(&format!("/market?item={ITEM}#key={key}")).await;
    window.wait("document.querySelector('.plots[aria-busy=false] canvas')").await;
    expect_size(&window, MOST_BYTES_WITH_ITEM).await;
    window.expect_clean(&[]);
}

/// Panics if the page has loaded more bytes than this.
async fn expect_size(window: &Window, most: f64) {
    let sizes: Vec<(String, f64)> = serde_json::from_value(window.evaluate(SIZES).await).unwrap();
    let sum: f64 = sizes.iter().map(|(_, bytes)| bytes).sum();
    assert!(sum <= most, "{sum} bytes: {sizes:?}");
}
