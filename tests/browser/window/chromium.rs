//! One process of Chromium, with a profile of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::protocol::{Connection, Page};
use super::seen::{REPORT, SCRIPT, Seen};

/// Numbers the profiles of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Chromium reads commands from descriptor 3 and writes messages to descriptor 4.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

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

/// A running browser. Dropping it kills the process and removes the profile.
pub(super) struct Chromium {
    process: Child,
    connection: Arc<Connection>,
    profile: PathBuf,
    seen: Arc<Mutex<Seen>>,
}

impl Chromium {
    pub(super) fn start() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let profile = local::Options::default()
            .template
            .with_file_name(format!("target/tmp/browser/{}-{number}", std::process::id()));
        std::fs::create_dir_all(&profile).unwrap();
        // Chromium completes no download to a path with `..`.
        let profile = profile.canonicalize().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES, env!("CHROMIUM")]).args(ARGUMENTS);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let (commands, messages) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let seen = Arc::<Mutex<Seen>>::default();
        let sink = Arc::clone(&seen);
        let note = move |method: &str, event: &Value| sink.lock().unwrap().note(method, event);
        let connection = Arc::new(Connection::new(commands, messages, note));
        Self { process, connection, profile, seen }
    }

    /// A page that reports what it does.
    pub(super) async fn page(&self, base: &str, key: &str) -> Page {
        self.seen.lock().unwrap().watch(base, key);
        let page = Page::open(&self.connection).await;
        for domain in ["Accessibility", "Audits", "Log", "Network", "Page", "Runtime"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        page.call("Runtime.addBinding", json!({"name": REPORT})).await;
        page.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})).await;
        page
    }

    /// An empty tab in front of all others.
    pub(super) async fn cover(&self) -> Page {
        let tab = Page::open(&self.connection).await;
        tab.call("Page.bringToFront", json!({})).await;
        tab
    }

    /// Saves all downloads in this folder.
    pub(super) async fn download_to(&self, folder: &Path) {
        let behaviour = json!({"behavior": "allow", "downloadPath": folder});
        self.connection.call(None, "Browser.setDownloadBehavior", behaviour).await.unwrap();
    }

    pub(super) fn profile(&self) -> &Path {
        &self.profile
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        // Its own processes end a moment later, and write until then.
        for _ in 0..40 {
            let _ = std::fs::remove_dir_all(&self.profile);
            std::thread::sleep(Duration::from_millis(25));
            if !self.profile.exists() {
                break;
            }
        }
    }
}
