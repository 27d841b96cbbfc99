//! A window of a real browser on a page of the service. It reports everything that a page must never do: see [`seen`].

mod accessibility;
mod chromium;
mod element;
mod input;
mod protocol;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use self::chromium::Context;
use self::protocol::Page;
pub(crate) use self::seen::{Seen, is_of_days};

/// How long a page may take to get into a state that a test waits for. Debug builds on a busy machine are slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// A colour scheme that a person may prefer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

impl Scheme {
    const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The sizes of a telephone and of a laptop.
pub(crate) const PHONE: (u32, u32) = (390, 844);
pub(crate) const LAPTOP: (u32, u32) = (1280, 900);

/// Whether pictures of all states are wanted.
fn takes_pictures() -> bool {
    std::env::var_os("BROWSER_SCREENSHOTS").is_some()
}

/// The state in which a window is when its test gives up.
const FAILURE: &str = "failure";

/// A private window of the browser.
pub(crate) struct Window {
    page: Page,
    context: Arc<Context>,
    /// The address that all pages and requests begin with.
    base: String,
    scheme: Scheme,
    width: u32,
}

impl Window {
    /// Opens an empty window for pages whose addresses begin with `base`. `key` must not be seen in any address.
    pub(crate) async fn new(base: &str, key: &str) -> Self {
        Self::of(Arc::new(Context::new().await), base, key).await
    }

    /// Opens another tab of the same person.
    pub(crate) async fn tab(&self, key: &str) -> Self {
        Self::of(Arc::clone(&self.context), &self.base, key).await
    }

    /// Brings this tab to the front: what is behind it does not render.
    pub(crate) async fn to_front(&self) {
        self.call("Page.bringToFront", json!({})).await;
    }

    async fn of(context: Arc<Context>, base: &str, key: &str) -> Self {
        let page = context.page(base, key).await;
        let mut window = Self { page, context, base: base.to_owned(), scheme: Scheme::Light, width: 0 };
        window.show_as(Scheme::Light, LAPTOP).await;
        window
    }

    /// Opens the page at this path, and returns when its scripts have run.
    pub(crate) async fn open(&self, path: &str) {
        let url = format!("{}{path}", self.base);
        let response = self.call("Page.navigate", json!({"url": url})).await;
        assert_eq!(response.get("errorText"), None, "{url}");
        self.wait("document.readyState === 'complete'").await;
    }

    /// Loads the page again.
    pub(crate) async fn reload(&self) {
        self.evaluate("void (window.isOld = true)").await;
        self.call("Page.reload", json!({})).await;
        self.wait("!window.isOld && document.readyState === 'complete'").await;
    }

    /// The value of the expression in the page, after its promise is settled.
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
            if begun.elapsed() > PATIENCE {
                self.give_up(expression).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether the expression is true; `None` while the page is being replaced by another one.
    async fn holds(&self, expression: &str) -> Option<bool> {
        let parameters = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
        let response = self.page.try_call("Runtime.evaluate", parameters).await.ok()?;
        response["result"]["value"].as_bool()
    }

    /// Panics with all that is known about the window.
    async fn give_up(&self, awaited: &str) -> ! {
        self.screenshot(FAILURE).await;
        let address = self.evaluate("location.href").await;
        let text = self.text().await;
        panic!("{address} is not yet so: {awaited}\n{text}\n{:#?}", self.seen());
    }

    /// The text that a person sees.
    pub(crate) async fn text(&self) -> String {
        self.evaluate("document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the text is shown.
    pub(crate) async fn wait_for_text(&self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text))).await;
    }

    /// The title of the window.
    pub(crate) async fn title(&self) -> String {
        self.evaluate("document.title").await.as_str().unwrap().to_owned()
    }

    /// The path and the query of the address, without the base, and the fragment.
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

    /// Goes back by one address. The page's own `history.back()` may replace the page before it has responded.
    pub(crate) async fn back(&self) {
        let history = self.call("Page.getNavigationHistory", json!({})).await;
        let current = history["currentIndex"].as_u64().unwrap();
        let before = &history["entries"][usize::try_from(current).unwrap() - 1]["id"];
        self.call("Page.navigateToHistoryEntry", json!({"entryId": before})).await;
    }

    /// Shows pages to a person who prefers this scheme, in a window of this width and height.
    pub(crate) async fn show_as(&mut self, scheme: Scheme, (width, height): (u32, u32)) {
        (self.scheme, self.width) = (scheme, width);
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics).await;
        self.prefer(&[("prefers-color-scheme", scheme.name())]).await;
    }

    /// Sets what the person prefers, such as `prefers-reduced-motion`.
    pub(crate) async fn prefer(&self, preferences: &[(&str, &str)]) {
        let features: Vec<_> =
            preferences.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        self.call("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// Minimizes the window, which hides its page, or restores it.
    pub(crate) async fn hide(&self, is_hidden: bool) {
        let state = if is_hidden { "minimized" } else { "normal" };
        let window = self.call("Browser.getWindowForTarget", json!({})).await["windowId"].take();
        let bounds = json!({"windowId": window, "bounds": {"windowState": state}});
        self.call("Browser.setWindowBounds", bounds).await;
        self.wait(&format!("document.hidden === {is_hidden}")).await;
    }

    /// Sets the time zone of the person.
    pub(crate) async fn set_timezone(&self, name: &str) {
        self.call("Emulation.setTimezoneOverride", json!({"timezoneId": name})).await;
    }

    /// Cuts or restores the connection.
    pub(crate) async fn set_offline(&self, offline: bool) {
        let conditions =
            json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.call("Network.emulateNetworkConditions", conditions).await;
    }

    /// Lets requests for addresses like these fail, as if the connection broke.
    pub(crate) async fn block(&self, patterns: &[&str]) {
        self.call("Network.setBlockedURLs", json!({"urls": patterns})).await;
    }

    /// Saves what the page downloads, and returns the first file that `start` has downloaded.
    pub(crate) async fn download(&self, start: impl Future<Output = ()>) -> (String, String) {
        let folder = self.context.download_folder().await;
        start.await;
        let begun = Instant::now();
        loop {
            let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
            let mut complete =
                files.filter(|file| file.extension().is_some_and(|extension| extension == "csv"));
            if let Some(file) = complete.next() {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                return (name, std::fs::read_to_string(file).unwrap());
            }
            assert!(begun.elapsed() < PATIENCE, "nothing is downloaded");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Writes a picture of the whole page to `target/screenshots`, named after the state, the scheme and the width: of a failure, and
    /// of everything else only if `BROWSER_SCREENSHOTS` is set, because pictures take time.
    pub(crate) async fn screenshot(&self, state: &str) {
        if state != FAILURE && !takes_pictures() {
            return;
        }
        let folder = local::Options::default().template.with_file_name("target/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{state}-{}-{}.png", self.scheme.name(), self.width));
        let page = self.call("Page.getLayoutMetrics", json!({})).await["cssContentSize"].take();
        let size = [&page["width"], &page["height"]].map(|side| side.as_f64().unwrap());
        std::fs::write(file, self.capture(size, 1.0).await).unwrap();
    }

    /// A picture of the top of the page, at this width and height, and made smaller by `scale`.
    pub(crate) async fn picture(&self, (width, height): (u32, u32), scale: f64) -> Vec<u8> {
        self.capture([width.into(), height.into()], scale).await
    }

    async fn capture(&self, [width, height]: [f64; 2], scale: f64) -> Vec<u8> {
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": scale});
        let parameters = json!({"clip": clip, "captureBeyondViewport": true});
        let response = self.call("Page.captureScreenshot", parameters).await;
        STANDARD.decode(response["data"].as_str().unwrap()).unwrap()
    }

    /// The response of the page to the command.
    pub(crate) async fn call(&self, method: &str, parameters: Value) -> Value {
        self.page.call(method, parameters).await
    }

    /// What the window has seen so far.
    pub(crate) fn seen(&self) -> Seen {
        self.page.seen()
    }

    /// Panics if a page did what none may do, apart from messages in the console that contain one of these texts.
    #[track_caller]
    pub(crate) fn expect_clean(&self, expected: &[&str]) {
        let faults = self.seen().faults(expected);
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
