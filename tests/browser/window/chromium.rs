//! One process of Chromium, with a profile of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chromiumoxide::cdp::IntoEventKind;
use chromiumoxide::cdp::browser_protocol::audits::EventIssueAdded;
use chromiumoxide::cdp::browser_protocol::log::EventEntryAdded;
use chromiumoxide::cdp::browser_protocol::network::{
    EventRequestWillBeSent, EventRequestWillBeSentExtraInfo, EventResponseReceived,
};
use chromiumoxide::cdp::browser_protocol::target::CreateTargetParams;
use chromiumoxide::cdp::js_protocol::runtime::{
    EventBindingCalled, EventConsoleApiCalled, EventExceptionThrown,
};
use chromiumoxide::error::CdpError;
use chromiumoxide::{Browser, BrowserConfig, Page};
use futures_util::StreamExt;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::commands::{Untyped, send};
use super::seen::{REPORT, SCRIPT, Seen};

/// Numbers the profiles of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A running browser. Dropping it kills the process and removes the profile.
pub(super) struct Chromium {
    /// Kills the process when it is dropped.
    browser: Browser,
    handler: JoinHandle<()>,
    profile: PathBuf,
    seen: Arc<Mutex<Seen>>,
}

impl Chromium {
    pub(super) async fn start() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let profile = local::Options::default()
            .template
            .with_file_name(format!("target/tmp/browser/{}-{number}", std::process::id()));
        std::fs::create_dir_all(&profile).unwrap();
        // Chromium completes no download to a path with `..`.
        let profile = profile.canonicalize().unwrap();
        let config = BrowserConfig::builder()
            .chrome_executable(env!("CHROMIUM"))
            .user_data_dir(&profile)
            // A process of root cannot have a sandbox. The pages are our own.
            .no_sandbox()
            .viewport(None)
            .launch_timeout(Duration::from_mins(2))
            .request_timeout(Duration::from_mins(2))
            // Messages of a Chromium that knows more than the library are taken as they are. By default they would be lost.
            .surface_invalid_messages()
            .args(["disable-gpu", "disable-component-update", "no-default-browser-check", "no-pings"])
            .build()
            .unwrap();
        let (browser, mut handler) = Browser::launch(config).await.unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let sink = Arc::clone(&seen);
        let handler = tokio::spawn(async move {
            while let Some(event) = handler.next().await {
                match event {
                    Err(CdpError::InvalidMessage(text, _)) => {
                        let message: Value = serde_json::from_str(&text).unwrap();
                        let method = message["method"].as_str().unwrap_or_default();
                        sink.lock().unwrap().note(method, &message["params"]);
                    }
                    Err(CdpError::Ws(_)) => break,
                    _ => {}
                }
            }
        });
        Self { browser, handler, profile, seen }
    }

    /// A page that reports what it does.
    pub(super) async fn page(&self, base: &str, key: &str) -> Page {
        self.seen.lock().unwrap().watch(base, key);
        let page = self.browser.new_page(CreateTargetParams::new("about:blank")).await.unwrap();
        self.record::<EventRequestWillBeSent>(&page).await;
        self.record::<EventRequestWillBeSentExtraInfo>(&page).await;
        self.record::<EventResponseReceived>(&page).await;
        self.record::<EventEntryAdded>(&page).await;
        self.record::<EventConsoleApiCalled>(&page).await;
        self.record::<EventExceptionThrown>(&page).await;
        self.record::<EventIssueAdded>(&page).await;
        self.record::<EventBindingCalled>(&page).await;
        let enable = [
            ("Runtime.addBinding", json!({"name": REPORT})),
            ("Page.addScriptToEvaluateOnNewDocument", json!({"source": SCRIPT})),
            ("Audits.enable", json!({})),
            ("Accessibility.enable", json!({})),
        ];
        for (method, parameters) in enable {
            send(&page, method, parameters).await.unwrap();
        }
        page
    }

    /// Takes note of each event of this kind.
    async fn record<E>(&self, page: &Page)
    where
        E: IntoEventKind + Serialize + Unpin,
    {
        let mut events = page.event_listener::<E>().await.unwrap();
        let seen = Arc::clone(&self.seen);
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let event = serde_json::to_value(&*event).unwrap();
                seen.lock().unwrap().note(&E::method_id(), &event);
            }
        });
    }

    /// An empty tab in front of all others.
    pub(super) async fn cover(&self) -> Page {
        let tab = self.browser.new_page(CreateTargetParams::new("about:blank")).await.unwrap();
        tab.bring_to_front().await.unwrap();
        tab
    }

    /// The response of the browser itself to the command.
    pub(super) async fn call(&self, method: &'static str, parameters: Value) -> Value {
        self.browser.execute(Untyped { method, parameters }).await.unwrap().result
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
        self.handler.abort();
        if let Some(child) = self.browser.get_mut_child() {
            let _ = child.inner.start_kill();
        }
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
