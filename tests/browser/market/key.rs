//! The page tries a key before it keeps it, shares it with new tabs, forgets it in all tabs, and puts it into
//! no address, log or referrer.

use std::sync::{Arc, Mutex};

use local::Options;

use super::defects::replace;
use super::{forget_key, open, settle};
use crate::cloud::{pro_key, start, start_with};
use crate::window::Window;

async fn enter(window: &Window, key: &str) {
    window.focus("textbox", "API key").await;
    window.evaluate("document.getElementById('key').select()").await;
    window.type_text(key).await;
    window.press("Enter").await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_key_the_page_asks_for_one_and_keeps_none_that_is_refused() {
    let cloud = start().await;
    let keys = cloud.keys().unwrap();
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open("/market?view=flips").await;
    window.wait_for("heading", "Your API key").await;
    window.wait_for("link", "https://dashboard.example").await;
    enter(&window, "two words").await;
    window.wait("document.querySelector('[role=alert]').innerText").await;
    window.inspect("market-malformed-key").await;
    for (refused, sentence) in [
        (keys.revoked.expose(), "A valid API key is required"),
        (keys.lapsed.expose(), "has no active paid subscription"),
    ] {
        enter(&window, refused).await;
        window.wait_for_text(sentence).await;
        window.wait_for("heading", "Your API key").await;
        assert_eq!(window.evaluate("sessionStorage.length").await, 0);
    }
    enter(&window, &key).await;
    window.wait_for("button", "Key").await;
    window.wait_for("heading", "Flips").await;
    assert_eq!(window.evaluate("document.activeElement.id").await, "main");
    window.reload().await;
    window.wait_for("heading", "Flips").await;
    assert_eq!(
        window.evaluate("[localStorage.getItem('key'), document.cookie.length]").await,
        serde_json::json!([null, 0])
    );
    forget_key(&window).await;
    window.wait_for("heading", "Your API key").await;
    assert_eq!(window.evaluate("sessionStorage.length").await, 0);
    window.expect_clean(&["Failed to load resource"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_tab_has_the_key_of_an_open_one_and_forgetting_it_is_for_all_tabs() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = open(&cloud, "?view=flips").await;
    let other = window.tab(&key).await;
    other.open("/market?view=mayor").await;
    other.wait_for("heading", "In office").await;
    assert_eq!(other.evaluate("localStorage.length").await, 0, "the device must not store the key");
    forget_key(&other).await;
    for window in [&other, &window] {
        window.to_front().await;
        window.wait_for("heading", "Your API key").await;
        window.reload().await;
        window.wait_for("heading", "Your API key").await;
        window.expect_clean(&[]);
    }
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_that_was_elsewhere_has_forgotten_the_key_too_and_a_link_replaces_no_remembered_one() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = open(&cloud, "?view=status").await;
    let other = window.tab(&key).await;
    other.open("/market?view=status").await;
    other.wait_for("button", "Key").await;
    other.open("/openapi.json").await;
    window.to_front().await;
    window.click("button", "Key").await;
    window.click("checkbox", "Remember on this device").await;
    let third = window.tab(&key).await;
    third.open("/market?view=mayor#key=garbage").await;
    third.wait_for_text("The service does not accept this key.").await;
    assert_eq!(third.evaluate("localStorage.getItem('key')").await, key.as_str());
    window.to_front().await;
    window.click("button", "Forget key").await;
    other.to_front().await;
    other.open("/market?view=mayor").await;
    other.wait_for("heading", "Your API key").await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_remembered_on_the_device_only_if_that_is_wanted() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open("/market?view=flips").await;
    window.click("checkbox", "Remember on this device").await;
    enter(&window, &key).await;
    window.wait_for("button", "Key").await;
    let kept = "localStorage.getItem('key')";
    assert_eq!(window.evaluate(kept).await, key.as_str());
    // Without the session storage, no tab has the key, as after a restart of the browser.
    window.evaluate("sessionStorage.clear()").await;
    window.reload().await;
    window.click("button", "Key").await;
    window.inspect("market-key-menu").await;
    window.click("checkbox", "Remember on this device").await;
    assert_eq!(window.evaluate(kept).await, serde_json::Value::Null);
    window.reload().await;
    window.click("button", "Key").await;
    window.click("checkbox", "Remember on this device").await;
    assert_eq!(window.evaluate(kept).await, key.as_str());
    window.click("button", "Forget key").await;
    window.wait_for("heading", "Your API key").await;
    assert_eq!(
        window.evaluate("[localStorage.getItem('key'), sessionStorage.length]").await,
        serde_json::json!([null, 0])
    );
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_cannot_be_tried_is_kept() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &pro_key(&cloud)).await;
    for (status, sentence) in [
        ("429", "This key has used up its requests for now."),
        ("503", "The service has a problem at the moment."),
    ] {
        window.open("/market?view=flips").await;
        replace(&window, "v1/", &format!("new Response('{{}}', {{ status: {status} }})")).await;
        enter(&window, &pro_key(&cloud)).await;
        window.wait_for("heading", "Flips").await;
        window.wait_for_text(sentence).await;
        forget_key(&window).await;
    }
    window.block(&["*"]).await;
    enter(&window, &pro_key(&cloud)).await;
    window.wait_for("heading", "Flips").await;
    window.expect_clean(&["Failed to load resource"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_is_in_no_address_log_or_referrer() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let access_log: local::LineSink = Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()));
    let function_log = Some(Arc::clone(&access_log));
    let cloud =
        start_with(Options { access_log: Some(access_log), function_log, ..Options::for_tests() }).await;
    let window = open(&cloud, "?view=flips").await;
    for view in ["Mayor", "Fire sales", "Status", "Flips"] {
        window.click("link", view).await;
        settle(&window).await;
    }
    assert_eq!(window.address().await, "/market?view=flips", "the fragment must be gone");
    window.click("link", "API").await;
    window.wait("location.pathname.endsWith('/docs')").await;
    window.back().await;
    window.wait_for("heading", "Flips").await;
    settle(&window).await;

    let key = pro_key(&cloud);
    let requests = window.requests("");
    assert!(requests.iter().any(|request| request.sent["headers"]["X-API-Key"] == key), "no key was sent");
    let mut referrers = requests.iter().filter_map(|request| request.sent["headers"]["Referer"].as_str());
    assert!(referrers.all(str::is_empty), "{requests:?}");
    let addresses = window.addresses_of_tab().await;
    assert!(addresses.iter().all(|address| !address.contains(&key)), "{addresses:?}");
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("/v1/mayor")), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains(&key)), "{lines:#?}");
    assert!(cloud.logs().iter().all(|line| !line.contains(&key)));
    window.expect_clean(&[]);
}
