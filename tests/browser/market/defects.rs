//! The page survives responses that break the contract, keys that change during a request, wrong clocks and
//! odd addresses.

use serde_json::{Value, json};

use super::{forget_key, open, settle, texts_of};
use crate::cloud::{ITEM, start, start_with_past};
use crate::window::Window;

/// From now on, if the address of a request contains `part`, the page gets the value of `response`, a
/// JavaScript expression, as its response. The expression can use `success(data)`, a success with these data,
/// and `pass()`, the service's own response. The variable `asked` in the page lists all later requests with
/// their keys.
pub(super) async fn replace(window: &Window, part: &str, response: &str) {
    let script = format!(
        "window.send ??= fetch; window.asked = [];
         window.fetch = async (path, options) => {{
           asked.push([path, options.headers?.['X-API-Key'] ?? null]);
           const pass = () => send(path, options);
           const success = (data) => new Response(JSON.stringify({{ success: true, data }}));
           return path.includes({part:?}) ? {response} : pass();
         }};
         undefined"
    );
    window.evaluate(&script).await;
}

/// The requests since [`replace`] whose addresses contain `part`, with their keys.
async fn asked(window: &Window, part: &str) -> Vec<Value> {
    let requests = window.evaluate("asked").await;
    let requests = requests.as_array().unwrap().iter();
    requests.filter(|request| request[0].as_str().unwrap().contains(part)).cloned().collect()
}

/// Shows the view at this query without loading the page.
pub(super) async fn go(window: &Window, query: &str) {
    let script =
        format!("history.pushState(null, '', {query:?}); dispatchEvent(new PopStateEvent('popstate'))");
    window.evaluate(&script).await;
}

/// Reloads the page, and stops its clock at this time. Its time zone becomes UTC.
pub(super) async fn stop_clock(window: &Window, now: &str) {
    window.call("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})).await;
    window.reload().await;
    settle(window).await;
    window.evaluate(&format!("void (Date.now = () => Date.parse('{now}'))")).await;
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_follows_no_redirect_and_a_response_to_it_stays_in_no_cache() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let script = "window.send = fetch; window.options = [];
        window.fetch = (path, given) => { options.push([path, given.redirect, given.credentials, given.cache]); return send(path, given); };
        undefined";
    window.evaluate(script).await;
    window.click("link", "Flips").await;
    window.wait("document.querySelectorAll('tbody tr').length > 10").await;
    settle(&window).await;
    let options = window.evaluate("options").await;
    let options = options.as_array().unwrap();
    assert!(!options.is_empty());
    for request in options {
        // The catalogue, names and the daily candles are the same for all keys, so browsers may cache them.
        let path = request[0].as_str().unwrap();
        let is_kept =
            path.starts_with("v1/items") || path == "v1/names" || path.starts_with("v1/bazaar/candles/all?");
        let cache = if is_kept { "default" } else { "no-store" };
        assert_eq!(*request, json!([request[0], "error", "omit", cache]));
    }
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_that_have_expired_already_are_not_kept_for_a_minute() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    // The status view sets its timer before the delays are recorded.
    settle(&window).await;
    window.evaluate("window.delays = []; window.later = setTimeout; void (window.setTimeout = (act, delay) => { delays.push(delay); return later(act, delay); })").await;
    let headers = "{ date: new Date().toUTCString(), expires: new Date().toUTCString() }";
    let flips = "JSON.stringify({ success: true, data: { items: [] } })";
    let response = format!("new Response({flips}, {{ headers: {headers} }})");
    let only = format!("path.includes('mode=prices') ? {response} : new Promise(() => {{}})");
    replace(&window, "v1/", &only).await;
    go(&window, "?view=flips").await;
    window.wait_for_text("No product brings a profit").await;
    // Shorter delays belong to countdowns and rendering. Later waits are longer, because the data stay the
    // same.
    let waits = "delays.filter((delay) => delay > 1000)";
    window.wait(&format!("{waits}.length > 0")).await;
    assert_eq!(window.evaluate(&format!("{waits}[0] <= 5000")).await, true);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_response_leaves_the_other_views_alone_and_can_be_tried_again() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    replace(&window, "mode=prices", "success({})").await;
    window.click("link", "Flips").await;
    window.wait_for_text("This view has a defect").await;
    window.click("link", "Mayor").await;
    window.wait_for("heading", "In office").await;
    window.click("link", "Flips").await;
    window.wait_for_text("This view has a defect").await;
    replace(&window, "mode=prices", "pass()").await;
    window.click("button", "Try again").await;
    window.wait("document.querySelectorAll('tbody tr').length > 10").await;
    for data in ["undefined", "null"] {
        window.open("/market?view=status").await;
        replace(&window, "mode=prices", &format!("success({data})")).await;
        window.click("link", "Flips").await;
        window.wait_for_text("The service has a problem at the moment. Next try in").await;
    }
    // Chromium reports the exception that the view has thrown.
    window.expect_clean(&["TypeError"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_key_is_shown_nothing_of_what_the_first_has_loaded() {
    let cloud = start_with_past().await;
    let window = open(&cloud, &format!("?item={ITEM}&range=7d")).await;
    let price = "/\\d/.test(document.querySelector('.legend .first dd')?.innerText)";
    window.wait(price).await;
    window.press("/").await;
    window.type_text("diam").await;
    window.wait("document.querySelectorAll('[role=option]').length > 0").await;
    replace(&window, "v1/", "new Promise(() => {})").await;
    window.evaluate("location.hash = '#key=another'").await;
    window.wait("!location.hash && asked.length > 0").await;
    window.press("/").await;
    window.type_text("diam").await;
    window.wait_for_text("The list of items is loading…").await;
    assert_eq!(window.evaluate("document.querySelectorAll('[role=option]').length").await, 0);
    assert_eq!(window.evaluate(price).await, false, "{}", window.text().await);
    let keys = asked(&window, "v1/").await;
    assert!(keys.iter().all(|request| request[1] == "another"), "{keys:?}");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_changes_during_a_request_breaks_nothing() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    settle(&window).await;
    replace(&window, "v1/bazaar", "new Promise((done) => addEventListener('release', done)).then(pass)")
        .await;
    window.press("/").await;
    window.type_text("coal").await;
    window.wait("asked.length > 0").await;
    window.click("link", "Flips").await;
    window.wait("asked.some(([path]) => path.includes('mode=prices'))").await;
    forget_key(&window).await;
    window.wait_for("heading", "Your API key").await;
    // Lets the responses arrive and take effect.
    window
        .evaluate("dispatchEvent(new Event('release')), new Promise((done) => setTimeout(done, 300))")
        .await;
    let requests = asked(&window, "v1/").await;
    assert!(requests.iter().all(|request| request[1].is_string()), "every request has a key: {requests:?}");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_search_does_not_repeat_a_request_sooner_than_it_may() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let refusal = "new Response('{}', { status: 429, headers: { 'Retry-After': '4000000' } })";
    replace(&window, "mode=prices", refusal).await;
    for _ in 0..2 {
        window.focus("combobox", "Search items").await;
        window.type_text("c").await;
        window.wait_for_text("This key has used up its requests for now.").await;
        // The `Retry-After` is longer than the longest timer of a browser.
        window.wait_for_text("Next try in 23 h").await;
        window.evaluate("document.activeElement.blur()").await;
    }
    assert_eq!(asked(&window, "mode=prices").await.len(), 1);
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_that_no_date_holds_break_no_view() {
    let cloud = start().await;
    let window = open(&cloud, "?view=status").await;
    let election = json!({"year": 1e9, "candidates": [{"key": "x", "name": "Xavier", "votes": 1}]});
    let mayor = json!({"mayor": {"key": "m", "name": "Marina", "perks": []}, "election": election, "current": election});
    replace(&window, "v1/mayor", &format!("path === 'v1/mayor' ? success({mayor}) : pass()")).await;
    go(&window, "?view=mayor").await;
    window.wait_for_text("The term ends in").await;
    go(&window, "?").await;
    window.wait_for_text("Marina is in office.").await;
    let sale = json!({"item_id": "COAL", "start": 1, "end": 1e17, "amount": 1, "price": 1});
    replace(
        &window,
        "v1/fire-sales",
        &format!("path === 'v1/fire-sales' ? success({{ sales: [{sale}] }}) : pass()"),
    )
    .await;
    go(&window, "?view=mayor").await;
    window.wait_for("heading", "In office").await;
    window.click("link", "Fire sales").await;
    window.wait_for("heading", "Recorded sales").await;
    assert!(!window.text().await.contains("defect"));
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_with_a_wrong_clock_shows_the_latest_prices() {
    let cloud = start_with_past().await;
    for hours in [-24, 24] {
        let window = open(&cloud, "?view=status").await;
        window.evaluate(&format!("void (now = Date.now, Date.now = () => now() + {hours} * 3600000)")).await;
        go(&window, &format!("?item={ITEM}&range=1h")).await;
        window.wait("document.querySelector('.plots')?.ariaBusy === 'false'").await;
        let legend = texts_of(&window, ".legend dd").await;
        assert!(legend[1].contains(','), "{hours} h off: {legend:?}");
        window.expect_clean(&[]);
    }
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_addresses_show_a_view_and_its_buttons_work() {
    let cloud = start().await;
    let window = open(&cloud, "").await;
    let entries = window.evaluate("history.length").await;
    for _ in 0..2 {
        window.click("link", "Market").await;
    }
    assert_eq!(window.evaluate("history.length").await, entries, "a link to the same view adds no address");
    for part in [
        "from=-271821-04-20T00:00:00Z&to=-271821-05-20T00:00:00Z",
        "from=2026-11-01&to=%2B275760-09-13T00:00:00Z",
        "from=2026-01-02&to=2026-01-01&range=__proto__",
    ] {
        go(&window, &format!("?item=COAL&{part}")).await;
        for button in ["Earlier", "Zoom in", "Later", "Zoom out"] {
            let selector = format!("document.querySelector('[aria-label=\"{button}\"]')");
            window.wait(&selector).await;
            window.evaluate(&format!("{selector}.click()")).await;
            settle(&window).await;
        }
        assert!(!window.text().await.contains("defect"), "{part}");
    }
    for query in ["?view=__proto__", "?view=constructor", "?item=__proto__", "?view=flips&sort=-__proto__"] {
        go(&window, query).await;
        window.wait("document.querySelector('h1')").await;
        settle(&window).await;
        assert!(!window.text().await.contains("defect"), "{query}");
    }
    go(&window, "?item=NO_SUCH_ITEM").await;
    window.wait_for("heading", "Unknown item").await;
    assert_eq!(window.evaluate("document.title").await, "Unknown item – Market");
    window.inspect("market-unknown-item").await;
    window.click("button", "Search for an item").await;
    window.wait("document.activeElement.id === 'search'").await;

    // In the first hours, an item of auctions has a price, but no averages.
    let price = "success({ count: 1, items: [{ id: 'NEWLY_LISTED', lowest: 5, second: null, listings: 1, name: null }], unknown: [] })";
    let missing = "new Response('{}', { status: 404 })";
    let response = format!(
        "path.startsWith('v1/auctions/averages') ? success({{ count: 0, items: [], unknown: ['NEWLY_LISTED'] }}) : path.startsWith('v1/auctions/prices') ? {price} : {missing}"
    );
    replace(&window, "v1/", &response).await;
    go(&window, "?item=NEWLY_LISTED").await;
    window.wait_for_text("Lowest price").await;

    // While these prices fail, the page cannot know whether the item exists.
    let response = "path.startsWith('v1/auctions/averages') ? success({ count: 0, items: [], unknown: ['OTHER'] }) : \
        new Response('{}', { status: path.startsWith('v1/auctions/prices') ? 500 : 404 })";
    replace(&window, "v1/", response).await;
    go(&window, "?item=OTHER").await;
    window.wait_for_text("The service has a problem at the moment.").await;
    assert!(!window.text().await.contains("Unknown item"));
    window.expect_clean(&["Failed to load resource"]);
}
