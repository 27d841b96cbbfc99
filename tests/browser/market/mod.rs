//! The market page. The header of each file states its promise.

mod auctions;
mod chart;
mod compare;
mod countdown;
mod decide;
mod defects;
mod elections;
mod errors;
mod gestures;
mod hours;
mod item;
mod key;
mod overview;
mod prices;
mod search;
mod series;
mod size;
mod texts;
mod views;
mod visitor;
mod waiting;
mod watch;
mod young;

use local::Cloud;

use crate::cloud::pro_key;
use crate::window::Window;

/// Opens the market page at this query, such as `?view=flips`, with the key of tier `pro`.
async fn open(cloud: &Cloud, query: &str) -> Window {
    let key = pro_key(cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open(&format!("/market{query}#key={key}")).await;
    window.wait_for("button", "Key").await;
    window
}

/// Forgets the key with the button in its menu.
async fn forget_key(window: &Window) {
    window.click("button", "Key").await;
    window.click("button", "Forget key").await;
}

/// Waits until nothing is loading.
async fn settle(window: &Window) {
    window.wait("!document.querySelector('[aria-busy=true]')").await;
}

/// The texts of all elements that match the selector.
async fn texts_of(window: &Window, selector: &str) -> Vec<String> {
    let expression =
        format!("[...document.querySelectorAll({selector:?})].map((element) => element.innerText.trim())");
    serde_json::from_value(window.evaluate(&expression).await).unwrap()
}
