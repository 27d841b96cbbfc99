//! A browser window that shows pages of the service. [`seen`] records the activity of the pages, and finds
//! forbidden activity.

mod accessibility;
mod chromium;
mod element;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::chromium::{Context, Tab};
pub(crate) use self::seen::Request;
use self::seen::Seen;

/// How long a page may take to reach a state that a test waits for. Debug builds on a busy machine are slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// A tab of a private window of the browser.
pub(crate) struct Window {
    tab: Tab,
    context: Arc<Context>,
    /// The beginning of the addresses of all pages and requests.
    base: String,
}

impl Window {
    /// Opens an empty window for pages whose addresses begin with `base`. No request may have `key` outside
    /// the header `X-API-Key` and the fragment.
    pub(crate) async fn new(base: &str, key: &str) -> Self {
        Self::of(Arc::new(Context::new().await), base, key).await
    }

    /// Opens another tab in the same private window.
    pub(crate) async fn tab(&self, key: &str) -> Self {
        Self::of(Arc::clone(&self.context), &self.base, key).await
    }

    async fn of(context: Arc<Context>, base: &str, key: &str) -> Self {
        let tab = Tab::open(&context, Seen::of(base, key)).await;
        Self { tab, context, base: base.to_owned() }
    }

    /// Brings this tab to the front. Hidden tabs do not render.
    pub(crate) async fn to_front(&self) {
        self.call("Page.bringToFront", json!({})).await;
    }

    /// Opens the page at this path, and returns when its scripts have run.
    pub(crate) async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.base);
        let response = self.call("Page.navigate", json!({"url": url})).await;
        assert_eq!(response.get("errorText"), None, "{url}");
        self.wait("document.readyState === 'complete'").await;
    }

    pub(crate) async fn reload(&self) {
        self.evaluate("void (window.isOld = true)").await;
        self.call("Page.reload", json!({})).await;
        self.wait("!window.isOld && document.readyState === 'complete'").await;
    }

    /// Evaluates the expression in the page, and awaits its promise.
    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let mut response = self.call("Runtime.evaluate", parameters).await;
        if let Some(exception) = response.get("exceptionDetails") {
            panic!("{expression:.300}: {exception}");
        }
        response["result"]["value"].take()
    }

    /// Waits until the expression is true in the page.
    pub(crate) async fn wait(&self, expression: &str) {
        let begun = Instant::now();
        while self.holds(expression).await != Some(true) {
            self.pause(begun, expression).await;
        }
    }

    /// Whether the expression is true; `None` while the page is being replaced by another one.
    async fn holds(&self, expression: &str) -> Option<bool> {
        let parameters = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
        let response = self.tab.call("Runtime.evaluate", parameters).await.ok()?;
        response["result"]["value"].as_bool()
    }

    /// Waits a moment. Panics with the state of the window if `begun` is longer ago than [`PATIENCE`].
    async fn pause(&self, begun: Instant, awaited: &str) {
        if begun.elapsed() > PATIENCE {
            let address = self.evaluate("location.href").await;
            let text = self.text().await;
            panic!("{address}: waited in vain for {awaited}\n{text}\n{:#?}", self.tab.seen());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// The text that a person sees.
    pub(crate) async fn text(&self) -> String {
        self.evaluate("document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) async fn wait_for_text(&self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text))).await;
    }

    /// The address without the base: path, query and fragment.
    pub(crate) async fn address(&self) -> String {
        let href = self.evaluate("location.href").await;
        href.as_str().unwrap().strip_prefix(&self.base).unwrap().to_owned()
    }

    /// Every address that Back and Forward lead to.
    pub(crate) async fn addresses_of_tab(&self) -> Vec<String> {
        let history = self.call("Page.getNavigationHistory", json!({})).await;
        let entries = history["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Goes back by one address. `history.back()` in the page could replace the page before the protocol
    /// responds.
    pub(crate) async fn back(&self) {
        let history = self.call("Page.getNavigationHistory", json!({})).await;
        let current = history["currentIndex"].as_u64().unwrap();
        let before = &history["entries"][usize::try_from(current).unwrap() - 1]["id"];
        self.call("Page.navigateToHistoryEntry", json!({"entryId": before})).await;
    }

    /// Makes requests for matching addresses fail, as if the connection broke.
    pub(crate) async fn block(&self, patterns: &[&str]) {
        self.call("Network.setBlockedURLs", json!({"urls": patterns})).await;
    }

    /// Sends a command of the debugging protocol to the page, and returns the response.
    pub(crate) async fn call(&self, method: &str, parameters: Value) -> Value {
        match self.tab.call(method, parameters).await {
            Ok(response) => response,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// The requests until now whose path and query begin with `path`.
    pub(crate) fn requests(&self, path: &str) -> Vec<Request> {
        self.tab.seen().requests(path).cloned().collect()
    }

    /// Panics if a page did something forbidden (see [`seen`]). Messages in the console that contain one of
    /// the `expected` texts are allowed.
    #[track_caller]
    pub(crate) fn expect_clean(&self, expected: &[&str]) {
        let faults = self.tab.seen().faults(expected);
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
