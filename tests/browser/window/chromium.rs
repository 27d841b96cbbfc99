//! The Chromium process that all tests share, and its debugging protocol: JSON messages over two pipes, each
//! ended by a zero byte.

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

/// Chromium reads commands from descriptor 3 and writes messages to descriptor 4. When the test program ends,
/// the pipes close, and Chromium ends.
const WITH_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// Turns background activity off, and makes the window as large as a laptop's. The headless shell stores
/// nothing on the disk.
const ARGUMENTS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    // Chromium has no sandbox for root. The pages are our own.
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

/// Runs the tasks that read and write the pipes. This runtime outlives the runtimes of the tests.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// All tests share one Chromium, because its start takes longer than most tests.
static CHROMIUM: LazyLock<Chromium> = LazyLock::new(Chromium::start);

struct Chromium {
    commands: UnboundedSender<String>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The id of the latest command.
    latest: u64,
    /// The receivers of outstanding responses, by the ids of their commands.
    waiting: HashMap<u64, oneshot::Sender<Value>>,
    /// The activity of each tab, by session.
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

/// Writes commands outside the tests' runtimes: a test that ends meanwhile must not leave half a command in
/// the pipe.
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
            // If the window is closed, the receiver is gone.
            let _ = state.waiting.remove(&id).map(|waiting| waiting.send(message));
        } else if let Some(seen) = message["sessionId"].as_str().and_then(|tab| state.seen.get_mut(tab)) {
            seen.note(message["method"].as_str().unwrap(), &message["params"]);
        }
    }
    // The browser has ended.
    state.lock().unwrap().waiting.clear();
}

/// Sends the command to the tab with this session, or to the browser itself. Returns the response, or the
/// reason why it is missing.
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

/// A browser context, which shares nothing with others, like a private window. Dropping it closes its tabs.
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
    /// Opens an empty tab. Its activity is added to `seen`.
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

    /// Returns the tab's activity until now.
    pub(super) fn seen(&self) -> Seen {
        CHROMIUM.state.lock().unwrap().seen[&self.session].clone()
    }

    /// Sends the command to this tab. Returns the response, or the reason why it is missing.
    pub(super) async fn call(&self, method: &str, parameters: Value) -> Result<Value, String> {
        call(Some(&self.session), method, parameters).await
    }
}
