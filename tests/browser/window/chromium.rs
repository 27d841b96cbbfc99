//! The process of Chromium that all tests share, and its debugging protocol: JSON messages over two pipes, each with a zero byte at its
//! end.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::seen::Seen;

/// How long a response may take. Starting a browser on a busy machine is slow.
const PATIENCE: Duration = Duration::from_mins(2);

/// Chromium reads commands from descriptor 3 and writes messages to descriptor 4. It ends when its pipes do, with the test program.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// A browser that does nothing of its own accord, with a window of the size of a laptop. The headless shell keeps nothing on the disk.
const ARGUMENTS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    // A process of root cannot have a sandbox. The pages are our own.
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
    "--lang=en_US",
    "--window-size=1280,900",
];

/// Outlives the runtimes of the tests.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// Starting it takes longer than most tests do.
static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::start);

/// A running browser.
struct Chromium {
    commands: UnboundedSender<String>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The id of the latest command.
    latest: u64,
    /// Where the responses go that are still missing, by the ids of their commands.
    waiting: HashMap<u64, oneshot::Sender<Value>>,
    /// What each tab has seen, by its session.
    seen: HashMap<String, Seen>,
}

impl Chromium {
    fn start() -> Self {
        let _runtime = RUNTIME.enter();
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPES, env!("CHROMIUM")]).args(ARGUMENTS);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (commands, queue) = unbounded_channel();
        let state = Arc::default();
        tokio::spawn(write(queue, process.stdin.take().unwrap()));
        tokio::spawn(read(process.stdout.take().unwrap(), Arc::clone(&state)));
        Self { commands, state }
    }
}

/// A test that ends while it sends a command must not leave half of one in the pipe.
async fn write(mut queue: UnboundedReceiver<String>, mut pipe: ChildStdin) {
    while let Some(command) = queue.recv().await {
        pipe.write_all(command.as_bytes()).await.unwrap();
    }
}

async fn read(pipe: ChildStdout, state: Arc<Mutex<State>>) {
    let mut messages = BufReader::new(pipe).split(0);
    while let Ok(Some(message)) = messages.next_segment().await {
        let message: Value = serde_json::from_slice(&message).unwrap();
        let mut state = state.lock().unwrap();
        if let Some(id) = message["id"].as_u64() {
            // A window that is closed awaits no response.
            let _ = state.waiting.remove(&id).map(|waiting| waiting.send(message));
        } else if let Some(seen) = message["sessionId"].as_str().and_then(|tab| state.seen.get_mut(tab)) {
            seen.note(message["method"].as_str().unwrap(), &message["params"]);
        }
    }
    // The browser has ended.
    state.lock().unwrap().waiting.clear();
}

/// The response of the tab with this session, or of the browser itself, to the command; or the reason why it is missing.
async fn call(session: Option<&str>, method: &str, parameters: Value) -> Result<Value, String> {
    let mut command = json!({"method": method, "params": parameters});
    if let Some(session) = session {
        command["sessionId"] = json!(session);
    }
    let (sender, response) = oneshot::channel();
    {
        let mut state = CHROMIUM.state.lock().unwrap();
        state.latest += 1;
        command["id"] = json!(state.latest);
        let id = state.latest;
        state.waiting.insert(id, sender);
    }
    CHROMIUM.commands.send(format!("{command}\0")).map_err(|error| error.to_string())?;
    let received = tokio::time::timeout(PATIENCE, response).await.map_err(|_| "no response in time")?;
    let mut response = received.map_err(|_| "the browser has ended")?;
    match response.get("error") {
        Some(error) => Err(error.to_string()),
        None => Ok(response["result"].take()),
    }
}

/// A session of the browser that shares nothing with others, as a private window does. Dropping it closes its tabs.
pub(super) struct Context {
    id: Value,
}

impl Context {
    pub(super) async fn new() -> Self {
        let mut created = call(None, "Target.createBrowserContext", json!({})).await.unwrap();
        Self { id: created["browserContextId"].take() }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let context = json!({"browserContextId": self.id});
        // The test's own runtime may end before the response.
        RUNTIME.spawn(call(None, "Target.disposeBrowserContext", context));
    }
}

pub(super) struct Tab {
    session: String,
}

impl Tab {
    /// Opens an empty tab. Everything that it does is added to `seen`.
    pub(super) async fn open(context: &Context, seen: Seen) -> Self {
        let empty = json!({"url": "about:blank", "browserContextId": context.id});
        let target = call(None, "Target.createTarget", empty).await.unwrap()["targetId"].take();
        let attached = json!({"targetId": target, "flatten": true});
        let created = call(None, "Target.attachToTarget", attached).await.unwrap();
        let session = created["sessionId"].as_str().unwrap().to_owned();
        CHROMIUM.state.lock().unwrap().seen.insert(session.clone(), seen);
        let tab = Self { session };
        for domain in ["Accessibility", "Log", "Network", "Page", "Runtime"] {
            tab.call(&format!("{domain}.enable"), json!({})).await.unwrap();
        }
        tab
    }

    /// What the tab has seen so far.
    pub(super) fn seen(&self) -> Seen {
        CHROMIUM.state.lock().unwrap().seen[&self.session].clone()
    }

    /// The response to the command, or the reason why it is missing.
    pub(super) async fn call(&self, method: &str, parameters: Value) -> Result<Value, String> {
        call(Some(&self.session), method, parameters).await
    }
}
