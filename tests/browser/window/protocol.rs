//! The debugging protocol of Chromium: JSON messages over two pipes, each with a zero byte at its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::seen::Seen;

/// How long a response may take. Starting a browser on a busy machine is slow.
const PATIENCE: Duration = Duration::from_mins(2);

/// The commands without a response, by their id.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// What each tab has seen, by its session.
type SeenByTab = Arc<Mutex<HashMap<String, Seen>>>;

/// A connection to a browser.
pub(super) struct Connection {
    commands: UnboundedSender<Value>,
    last: AtomicU64,
    waiting: Waiting,
    seen: SeenByTab,
}

impl Connection {
    pub(super) fn new(mut pipe: ChildStdin, messages: ChildStdout) -> Self {
        let (commands, mut queue) = unbounded_channel::<Value>();
        // A test that ends while it sends a command must not leave half of one in the pipe.
        tokio::spawn(async move {
            while let Some(command) = queue.recv().await {
                pipe.write_all(format!("{command}\0").as_bytes()).await.unwrap();
            }
        });
        let (waiting, seen) = (Waiting::default(), SeenByTab::default());
        let (answered, tabs) = (Arc::clone(&waiting), Arc::clone(&seen));
        tokio::spawn(async move {
            let mut messages = BufReader::new(messages).split(0);
            while let Ok(Some(message)) = messages.next_segment().await {
                let message: Value = serde_json::from_slice(&message).unwrap();
                if let Some(id) = message["id"].as_u64() {
                    let waiting = answered.lock().unwrap().remove(&id);
                    // A window that is closed awaits no response.
                    let _ = waiting.map(|waiting| waiting.send(message));
                    continue;
                }
                let mut tabs = tabs.lock().unwrap();
                if let Some(seen) = message["sessionId"].as_str().and_then(|tab| tabs.get_mut(tab)) {
                    seen.note(message["method"].as_str().unwrap(), &message["params"]);
                }
            }
            // The browser has ended.
            answered.lock().unwrap().clear();
        });
        Self { commands, last: AtomicU64::new(0), waiting, seen }
    }

    /// The response of the tab with this session, or of the browser itself, to the command; or the reason why it is missing.
    pub(super) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> Result<Value, String> {
        let mut command = json!({"method": method, "params": parameters});
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        let (sender, response) = oneshot::channel();
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        command["id"] = json!(id);
        self.waiting.lock().unwrap().insert(id, sender);
        self.commands.send(command).map_err(|error| error.to_string())?;
        let response = tokio::time::timeout(PATIENCE, response).await;
        let mut response =
            response.map_err(|_| "no response in time")?.map_err(|_| "the browser has ended")?;
        match response.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(response["result"].take()),
        }
    }
}

/// A tab.
pub(super) struct Page {
    connection: &'static Connection,
    session: String,
}

impl Page {
    /// Opens an empty tab in this context of the browser. Everything that it does is added to `seen`.
    pub(super) async fn open(connection: &'static Connection, context: &str, seen: Seen) -> Self {
        let empty = json!({"url": "about:blank", "browserContextId": context});
        let target = connection.call(None, "Target.createTarget", empty).await.unwrap();
        let target = target["targetId"].as_str().unwrap().to_owned();
        let attached = json!({"targetId": target, "flatten": true});
        let session = connection.call(None, "Target.attachToTarget", attached).await.unwrap();
        let session = session["sessionId"].as_str().unwrap().to_owned();
        connection.seen.lock().unwrap().insert(session.clone(), seen);
        Self { connection, session }
    }

    /// What the tab has seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.connection.seen.lock().unwrap()[&self.session].clone()
    }

    /// The response to the command.
    pub(super) async fn call(&self, method: &str, parameters: Value) -> Value {
        match self.try_call(method, parameters).await {
            Ok(response) => response,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// The response to the command, or the reason why it is missing.
    pub(super) async fn try_call(&self, method: &str, parameters: Value) -> Result<Value, String> {
        self.connection.call(Some(&self.session), method, parameters).await
    }
}
