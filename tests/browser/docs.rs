//! The API reference shows every operation as text without scripts, its sample requests work in the forms,
//! and the reference and the market page work behind a stage.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cloud::{ITEM, pro_key, start};
use crate::stage::Stage;
use crate::window::Window;

/// How long Scalar may take to fade in new content.
const PAUSE: Duration = Duration::from_millis(700);

/// Whether the dialog that sends requests is open.
const CLIENT_IS_OPEN: &str = "document.querySelector('.scalar-client--open [role=dialog]')";

const KEY_FIELD: &str = "document.querySelector('input.scalar-password-input')";

/// The visible button that sends the request. The dialog has two such buttons, for wide and narrow windows.
const SEND: &str = "[...document.querySelectorAll('[role=dialog] button')]\
    .find((button) => /^\\s*Send/.test(button.textContent) && button.offsetParent)";

/// The status of the response in the dialog, if there is one.
const STATUS: &str = "/Status:\\s*(\\d{3})/.exec(document.querySelector('[role=dialog]').innerText)?.[1]";

/// The most bytes of a first visit: 15 s at 400 kbit/s.
const FIRST_BYTES: u64 = 750_000;

/// The most bytes of the page itself.
const PAGE_BYTES: u64 = 60_000;

/// Opens the forms of the reference with this key.
async fn open(window: &Window, key: &str) {
    window.open(&format!("/docs#key={key}")).await;
    open_forms(window).await;
}

async fn open_forms(window: &Window) {
    window.click("button", "Try requests here").await;
    ready(window).await;
}

async fn ready(window: &Window) {
    window.wait("document.querySelector('.references-layout') && !document.querySelector('.text')").await;
    still(window).await;
}

/// Fetches the OpenAPI document from the service.
async fn document(window: &Window) -> Value {
    window.evaluate("fetch('openapi.json').then((response) => response.json())").await
}

/// Returns the operations, and the parts of operations, that the page lacks without scripts.
async fn missing(window: &Window) -> Vec<String> {
    // A parsed document runs no scripts.
    let parse = "fetch('docs').then((response) => response.text()).then((text) => {
        const parsed = new DOMParser().parseFromString(text, 'text/html');
        const texts = [...parsed.querySelectorAll('article [id], article[id]')].map(({ id, textContent }) => [id, textContent]);
        const links = [...parsed.querySelectorAll('nav a')].map((link) => [link.getAttribute('href'), link.textContent]);
        return Object.fromEntries([...texts, ...links]);
      })";
    let shown = window.evaluate(parse).await;
    let document = document(window).await;
    let mut missing = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["get"];
        let id = operation["operationId"].as_str().unwrap();
        let text = shown[id].as_str().unwrap_or_default().replace("\n{", "{");
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parts = parameters.flat_map(|parameter| {
            let words = parameter["schema"]["enum"].as_array().into_iter().flatten();
            words.chain([&parameter["name"]]).map(|word| word.as_str().unwrap().to_owned())
        });
        let title = operation["summary"].as_str().unwrap().to_owned();
        let examples = &operation["responses"]["200"]["content"]["application/json"]["examples"];
        let example = examples.get("item").or_else(|| examples.as_object().unwrap().values().next()).unwrap();
        let request = format!("{}{{\n", example["summary"].as_str().unwrap());
        for part in parts.chain([format!("GET {path}"), title, request]) {
            if !text.contains(&part) {
                missing.push(format!("{path}: {part}"));
            }
        }
        if shown[format!("#{id}")] != json!(path) {
            missing.push(format!("{path}: the link in the navigation"));
        }
    }
    missing
}

/// The size of the file at this address in bytes, compressed with gzip as by API Gateway.
async fn compressed(window: &Window, url: &str) -> u64 {
    let size = format!(
        "fetch({}).then(({{ body }}) => new Response(body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer())\
         .then(({{ byteLength }}) => byteLength)",
        json!(url)
    );
    window.evaluate(&size).await.as_u64().unwrap()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_text_has_every_operation_at_once_for_everyone_and_without_scripts() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    window.open(&format!("/docs#key={key}")).await;
    let loaded: Vec<_> = window.requests("").into_iter().map(|request| request.url).collect();
    let page = compressed(&window, &format!("{}/docs", cloud.url())).await;
    let mut bytes = 0;
    for url in &loaded {
        bytes += compressed(&window, url).await;
    }
    assert!(loaded.iter().any(|url| url.ends_with("/docs.css")), "{loaded:?}");
    assert!(bytes <= FIRST_BYTES && page <= PAGE_BYTES, "{loaded:?}: {bytes} bytes, the page has {page}");
    assert_eq!(missing(&window).await, [""; 0]);
    window.inspect("reference-text").await;
    window.wait_for("link", "https://dashboard.example").await;
    window.wait_for_text(&format!("url = \"{}/v1/bazaar?mode=item&id=INK_SACK:3\"", cloud.url())).await;
    let place = "/paths/~1v1~1bazaar/get/responses/200/content/application~1json/examples/item/value/data";
    let example = document(&window).await.pointer_mut(place).unwrap().take();
    window.wait_for_text(&format!("INK_SACK:3 {} {}", example["buyPrice"], example["sellPrice"])).await;
    window.click("link", "/v1/mayor").await;
    window.wait("document.getElementById('getMayor').getBoundingClientRect().top < 150").await;
    assert_eq!(window.address().await, "/docs#getMayor");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_to_a_form_opens_it_and_back_leads_to_the_text() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), "").await;
    window.open("/docs").await;
    let links =
        "[...document.querySelectorAll('article a.try')].map((link) => link.getAttribute('href')).sort()";
    let links = window.evaluate(links).await;
    let count = links.as_array().unwrap().len();
    window.open("/docs#getMayor").await;
    window.click("link", "Try it: GET /v1/bazaar").await;
    ready(&window).await;
    let mut forms: Vec<_> = operations(&window, count).await.into_iter().map(|(_, link)| link).collect();
    forms.sort();
    assert_eq!(links, json!(forms), "every link leads to a form");
    let shown = "(() => { const { top } = document.querySelector('[id$=\"tag/bazaar/GET/v1/bazaar\"]').getBoundingClientRect(); \
        return top > -50 && top < 200; })()";
    window.wait(shown).await;
    // The first sample request is for one product, in Python.
    let sample = "document.querySelector('[id$=\"tag/bazaar/GET/v1/bazaar\"]').textContent";
    window.wait(&format!("{sample}.includes('requests.get(')")).await;
    window.wait(&format!("{sample}.replace(/\\s/g, '').includes('\"mode\":\"item\"')")).await;
    window.back().await;
    window.wait("document.querySelector('main.text')").await;
    assert_eq!(window.address().await, "/docs#getMayor");
    window.open("/docs#tag/fire-sales/GET/v1/fire-sales").await;
    ready(&window).await;
    window.wait("document.querySelector('[id$=\"tag/fire-sales/GET/v1/fire-sales\"]')").await;
    window.expect_clean(&[]);
}

/// Waits until nothing moves. Scalar renders content when it comes into view, and fades it in.
async fn still(window: &Window) {
    tokio::time::sleep(PAUSE).await;
    window.wait("document.getAnimations().every(({ playState }) => playState !== 'running')").await;
}

/// Waits for this many operations, and returns their paths and the fragments of their sections.
async fn operations(window: &Window, count: usize) -> Vec<(String, String)> {
    let links = "[...new Set([...document.querySelectorAll('a[href^=\"#tag/\"][href*=\"/GET\"]')]\
        .map((link) => link.getAttribute('href')))]";
    window.wait(&format!("{links}.length >= {count}")).await;
    let links: Vec<String> = serde_json::from_value(window.evaluate(links).await).unwrap();
    let path = |link: &String| (link.split_once("/GET").unwrap().1.to_owned(), link.clone());
    links.iter().map(path).collect()
}

/// Replaces the key in the form.
async fn edit_key(window: &Window, key: &str) {
    window.wait(KEY_FIELD).await;
    window.evaluate(&format!("{KEY_FIELD}.select()")).await;
    window.type_text(key).await;
    window.wait(&format!("{KEY_FIELD}.value === {}", json!(key))).await;
}

/// Shows an operation, and opens the dialog with its sample request.
async fn open_client(window: &Window, path: &str, link: &str) {
    window.evaluate(&format!("void (location.hash = {})", json!(link))).await;
    let button = format!(
        "[...document.querySelectorAll('button.show-api-client-button')]\
         .find((button) => button.textContent.trim().endsWith({}))",
        json!(format!("(get {path})"))
    );
    window.wait(&button).await;
    window.evaluate(&format!("{button}.click()")).await;
    window.wait(CLIENT_IS_OPEN).await;
    window.wait(SEND).await;
}

/// Sends the request, and returns the status of the response.
async fn send(window: &Window) -> String {
    window.evaluate(&format!("{SEND}.click()")).await;
    window.wait(STATUS).await;
    window.evaluate(STATUS).await.as_str().unwrap().to_owned()
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sample_request_of_every_operation_gets_its_response() {
    let cloud = start().await;
    cloud.record_no_items().await.unwrap();
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    open(&window, &key).await;
    assert_eq!(window.evaluate("location.href.includes('gd_')").await, false);
    let document = document(&window).await;
    let documented: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    let operations = operations(&window, documented.len()).await;
    let mut shown: Vec<_> = operations.iter().map(|(path, _)| path).collect();
    shown.sort();
    assert_eq!(shown, documented);

    for (path, link) in &operations {
        let front = path.split('{').next().unwrap();
        let requests = window.requests(front).len();
        open_client(&window, path, link).await;
        // Scalar leaves out the example of the required time, so this request has no time.
        let expected = if path == "/v1/bazaar/candles/all" { "400" } else { "200" };
        assert_eq!(send(&window).await, expected, "{path}");
        assert!(window.requests(front).len() > requests, "{path}");
        window.press("Escape").await;
        window.wait(&format!("!{CLIENT_IS_OPEN}")).await;
    }
    for (path, parameter) in [("/v1/bazaar?", "mode=item"), ("/v1/bazaar/candles?", "limit=100")] {
        assert!(window.requests(path).iter().any(|request| request.url.contains(parameter)), "{path}");
    }
    window.expect_clean(&["Failed to load resource: the server responded with a status of 400"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_forms_can_be_used_by_everyone() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    open(&window, &key).await;
    open_client(&window, "/v1/mayor", "#tag/mayor/GET/v1/mayor").await;
    let is_drawn =
        "[...document.querySelectorAll('.ascii-art')].some((drawing) => drawing.checkVisibility())";
    assert_eq!(window.evaluate(is_drawn).await, false, "the drawing must be hidden");
    assert_eq!(send(&window).await, "200");
    still(&window).await;
    window.inspect("reference-response").await;
    window.press("Escape").await;
    window.wait(&format!("!{CLIENT_IS_OPEN}")).await;
    window.inspect("reference-operation").await;
    let foreign = "[...document.querySelectorAll('a[href^=http]')]\
        .filter((link) => link.offsetParent && !link.href.startsWith(location.origin)).map((link) => link.href)";
    assert_eq!(window.evaluate(foreign).await, json!([]));
    let hint = "document.querySelector('input.scalar-password-input').placeholder";
    assert_eq!(window.evaluate(hint).await, "your API key");
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_pages_of_a_tab_share_the_key_and_keep_it_nowhere_else() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let window = Window::new(&cloud.url(), &key).await;
    open(&window, &key).await;
    let stored = "sessionStorage.getItem('key')";
    assert_eq!(window.evaluate(stored).await, json!(key));
    let edited = format!("{key}EDITED");
    edit_key(&window, &edited).await;
    assert_eq!(window.evaluate(stored).await, json!(edited));
    // If Scalar stored the key, it would do so a moment after an edit.
    window.evaluate("new Promise((done) => setTimeout(done, 1500))").await;
    let kept = "JSON.stringify(Object.entries(localStorage)) + document.cookie";
    let kept = window.evaluate(kept).await.as_str().unwrap().to_owned();
    assert!(!kept.contains(&key) && !kept.contains("EDITED"), "{kept}");
    window.reload().await;
    ready(&window).await;
    window.wait(&format!("{KEY_FIELD}.value === {}", json!(edited))).await;
    open_client(&window, "/v1/mayor", "#tag/mayor/GET/v1/mayor").await;
    assert_eq!(send(&window).await, "401");
    assert_eq!(window.evaluate(stored).await, Value::Null, "a rejected key must not stay");
    window.press("Escape").await;
    window.wait(&format!("!{CLIENT_IS_OPEN}")).await;
    edit_key(&window, "two words").await;
    assert_eq!(window.evaluate(stored).await, Value::Null, "a malformed key must not be kept");
    edit_key(&window, &key).await;
    assert_eq!(window.evaluate(stored).await, json!(key));
    edit_key(&window, "").await;
    assert_eq!(window.evaluate(stored).await, Value::Null);
    edit_key(&window, &key).await;
    window.click("link", "Market").await;
    window.wait_for("button", "Key").await;
    window.open(&format!("/market?item={ITEM}")).await;
    window.wait_for("heading", crate::cloud::NAME).await;
    window.click("link", "API").await;
    open_forms(&window).await;
    open_client(&window, "/v1/bazaar/history", "#tag/bazaar/GET/v1/bazaar/history").await;
    assert_eq!(send(&window).await, "200");
    let addresses = window.addresses_of_tab().await;
    assert!(addresses.iter().all(|address| !address.contains(&key)), "{addresses:?}");
    window.expect_clean(&["status of 401"]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_stage_the_requests_of_both_pages_go_to_the_stage() {
    let cloud = start().await;
    let key = pro_key(&cloud);
    let stage = Stage::of(&cloud).await;
    let window = Window::new(stage.url(), &key).await;
    window.open(&format!("/docs/#key={key}")).await;
    window.wait_for_text(&format!("url = \"{}/v1/", stage.url())).await;
    open_forms(&window).await;
    assert_eq!(window.evaluate("location.pathname").await, "/live/docs", "the trailing slash must be gone");
    open_client(&window, "/v1/mayor", "#tag/mayor/GET/v1/mayor").await;
    assert_eq!(send(&window).await, "200");
    assert!(window.requests("/v1/mayor").iter().any(|request| request.response["status"] == 200));
    window.open("/market/?view=status").await;
    window.wait_for("heading", "Status").await;
    assert_eq!(window.address().await, "/market?view=status", "the trailing slash must be gone");
    window.click("link", "Mayor").await;
    window.wait_for("heading", "In office").await;
    window.expect_clean(&[]);
}

#[cfg_attr(not(chromium), ignore = "needs chromium")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn if_a_part_cannot_be_loaded_a_sentence_says_so() {
    let cloud = start().await;
    let window = Window::new(&cloud.url(), &pro_key(&cloud)).await;
    for part in ["*/openapi.json", "*/scalar.js"] {
        window.block(&[part]).await;
        window.open("/docs").await;
        window.click("button", "Try requests here").await;
        window.wait("document.querySelector('#state [role=alert]')?.innerText").await;
        window.wait("document.querySelector('#getMayor')").await;
        window.block(&[]).await;
        window.click("button", "Reload").await;
        ready(&window).await;
        window.open("/market").await;
    }
    window.expect_clean(&["Failed to load resource", "net::ERR_"]);
}
