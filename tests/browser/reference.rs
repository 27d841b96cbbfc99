//! The API reference.

use crate::cloud::{key, start};
use crate::window::Window;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reference_shows_our_document() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &key(&cloud)).await;
    window.open("/docs").await;
    window.wait_for_text("Game Data Query Service").await;
}
