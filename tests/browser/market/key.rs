//! The key is asked for once, kept for the tab, and in no address.

use crate::cloud::{key, start};
use crate::window::Window;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_the_fragment_is_taken_and_removed_from_the_address() {
    let cloud = start().await;
    let key = key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open(&format!("/market?view=status#key={key}")).await;
    window.wait_for("button", "Forget key").await;
    assert_eq!(window.address().await, "/market?view=status");
    // Neither does the history of the tab hold it.
    assert_eq!(window.addresses_of_tab().await.iter().filter(|address| address.contains(&key)).count(), 0);
    window.expect_clean(&[]);
}
