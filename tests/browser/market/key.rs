//! The key is asked for once, kept for the tab, and in no address, log or referrer.

use std::sync::{Arc, Mutex};

use local::Options;

use super::defects::replace;
use super::{NOTHING, forget_key, open, settle};
use crate::cloud::{ITEM, key, start, start_with};
use crate::window::Window;

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_key_the_page_asks_for_one_and_says_where_to_get_it() {
    let cloud = start().await;
    let key = key(&cloud);
    let mut window = Window::new(&cloud.url(), &key).await;
    window.open("/market?view=flips").await;
    window.wait_for("heading", "Your API key").await;
    window.wait_for("link", "https://dashboard.example").await;
    assert_eq!(window.inspect("market-without-key").await, NOTHING);

    window.focus("textbox", "API key").await;
    window.type_text("two words").await;
    window.press("Enter").await;
    window.wait("document.querySelector('[role=alert]').innerText").await;
    assert_eq!(window.inspect("market-malformed-key").await, NOTHING);
    window.evaluate("document.getElementById('key').select()").await;
    window.type_text(&key).await;
    window.press("Enter").await;
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
    assert_eq!(window.evaluate("document.activeElement.id").await, "main");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_tab_has_the_key_of_an_open_one_and_forgetting_it_is_for_all_tabs() {
    let cloud = start().await;
    let key = key(&cloud);
    let window = open(&cloud, "?view=flips").await;
    let other = window.tab(&key).await;
    other.open("/market?view=mayor").await;
    other.wait_for("heading", "In office").await;
    assert_eq!(other.evaluate("localStorage.length").await, 0, "nothing is kept on the device");
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
    let key = key(&cloud);
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
    let key = key(&cloud);
    let mut window = Window::new(&cloud.url(), &key).await;
    window.open("/market?view=flips").await;
    window.click("checkbox", "Remember on this device").await;
    enter(&window, &key).await;
    window.wait_for("button", "Key").await;
    let kept = "localStorage.getItem('key')";
    assert_eq!(window.evaluate(kept).await, key.as_str());
    // As after a restart of the browser: no tab has the key.
    window.evaluate("sessionStorage.clear()").await;
    window.reload().await;
    window.click("button", "Key").await;
    assert_eq!(window.inspect("market-key-menu").await, NOTHING);
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

/// Enters a key in the form.
async fn enter(window: &Window, key: &str) {
    window.focus("textbox", "API key").await;
    window.evaluate("document.getElementById('key').select()").await;
    window.type_text(key).await;
    window.press("Enter").await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_the_service_refuses_is_reported_in_the_form_and_not_kept() {
    let cloud = start().await;
    let keys = cloud.keys().unwrap();
    let mut window = Window::new(&cloud.url(), &key(&cloud)).await;
    window.open(&format!("/market?item={ITEM}")).await;
    for (key, sentence) in [
        (keys.revoked.expose(), "A valid API key is required"),
        (keys.lapsed.expose(), "has no active paid subscription"),
    ] {
        enter(&window, key).await;
        window.wait_for_text(sentence).await;
        window.wait_for("heading", "Your API key").await;
        assert_eq!(window.evaluate("sessionStorage.length").await, 0);
        assert_eq!(
            window.evaluate("document.querySelectorAll('[data-status]').length").await,
            0,
            "no banner"
        );
    }
    assert_eq!(window.inspect("market-refused-key").await, NOTHING);
    window.expect_clean(&["Failed to load resource"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_cannot_be_tried_is_kept() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &key(&cloud)).await;
    for (status, sentence) in [
        ("429", "This key has made its requests for now."),
        ("503", "The service has a problem at the moment."),
    ] {
        window.open("/market?view=flips").await;
        replace(&window, "v1/", &format!("new Response('{{}}', {{ status: {status} }})")).await;
        enter(&window, &key(&cloud)).await;
        window.wait_for("heading", "Flips").await;
        window.wait_for_text(sentence).await;
        forget_key(&window).await;
    }
    window.set_offline(true).await;
    enter(&window, &key(&cloud)).await;
    window.wait_for("heading", "Flips").await;
    window.set_offline(false).await;
    window.expect_clean(&["Failed to load resource"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_the_fragment_is_taken_and_removed_from_the_address() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    assert_eq!(window.address().await, "/market?view=status");
    let key = key(&cloud);
    assert!(window.addresses_of_tab().await.iter().all(|address| !address.contains(&key)));
    window.expect_clean(&[]);
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
    window.reload().await;
    settle(&window).await;
    window.click("link", "API").await;
    window.wait("location.pathname.endsWith('/docs')").await;
    window.back().await;
    window.wait_for("heading", "Flips").await;
    settle(&window).await;

    let key = key(&cloud);
    let seen = window.seen();
    assert!(seen.requests().any(|request| request.headers.get("x-api-key") == Some(&key)), "the key is used");
    let referrers: Vec<_> =
        seen.requests().filter_map(|request| Some((&request.url, request.headers.get("referer")?))).collect();
    assert!(referrers.is_empty(), "{referrers:?}");
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("/v1/mayor")), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains(&key)), "{lines:#?}");
    assert!(cloud.logs().iter().all(|line| !line.contains(&key)));
    window.expect_clean(&[]);
}
