//! The process of Chromium that all tests share, and what of it belongs to one window.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::LazyLock;

use serde_json::json;
use tokio::process::{Child, Command};
use tokio::runtime::{Builder, Runtime};

use super::protocol::{Connection, Page};
use super::seen::{REPORT, SCRIPT, Seen};

/// Chromium reads commands from descriptor 3 and writes messages to descriptor 4. It ends when the test program does, because its
/// pipes end. The shell then removes its profile.
const WITH_PIPES: &str = r#"trap "" INT
"$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1
rm -rf "$PROFILE" || { sleep 1; rm -rf "$PROFILE"; }"#;

/// A browser that does nothing of its own accord.
const ARGUMENTS: [&str; 20] = [
    "--headless",
    "--remote-debugging-pipe",
    // A process of root cannot have a sandbox. The pages are our own.
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--lang=en_US",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
];

/// Outlives the runtimes of the tests.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// Starting it takes longer than most tests do.
static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::start);

/// A running browser.
struct Chromium {
    _process: Child,
    connection: Connection,
    profile: PathBuf,
}

impl Chromium {
    fn start() -> Self {
        let _runtime = RUNTIME.enter();
        let profile = local::Options::default()
            .template
            .with_file_name(format!("target/tmp/browser/{}", std::process::id()));
        std::fs::create_dir_all(&profile).unwrap();
        // Chromium completes no download to a path with `..`.
        let profile = profile.canonicalize().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES, env!("CHROMIUM")]).args(ARGUMENTS);
        command.arg(format!("--user-data-dir={}", profile.display())).env("PROFILE", &profile);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (commands, messages) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { _process: process, connection: Connection::new(commands, messages), profile }
    }
}

/// A session of the browser that shares nothing with others, as a private window does. Dropping it closes its tabs.
pub(super) struct Context {
    id: String,
}

impl Context {
    pub(super) async fn new() -> Self {
        let created = CHROMIUM.connection.call(None, "Target.createBrowserContext", json!({})).await.unwrap();
        Self { id: created["browserContextId"].as_str().unwrap().to_owned() }
    }

    /// A page that reports what it does.
    pub(super) async fn page(&self, base: &str, key: &str) -> Page {
        let page = Page::open(&CHROMIUM.connection, &self.id, Seen::of(base, key)).await;
        for domain in ["Accessibility", "Audits", "Log", "Network", "Page", "Runtime"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        page.call("Runtime.addBinding", json!({"name": REPORT})).await;
        page.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})).await;
        page
    }

    /// The empty folder in which all downloads are saved from now on.
    pub(super) async fn download_folder(&self) -> PathBuf {
        let folder = CHROMIUM.profile.join(format!("downloads-{}", self.id));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let behaviour = json!({"behavior": "allow", "downloadPath": folder, "browserContextId": self.id});
        CHROMIUM.connection.call(None, "Browser.setDownloadBehavior", behaviour).await.unwrap();
        folder
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let context = json!({"browserContextId": self.id});
        // The test's own runtime may end before the response.
        RUNTIME.spawn(CHROMIUM.connection.call(None, "Target.disposeBrowserContext", context));
    }
}
