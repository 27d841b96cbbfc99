//! The debugging protocol of Chromium: JSON messages over two pipes, each with a zero byte at its end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex as AsyncMutex, oneshot};

/// How long a response may take. Starting a browser on a busy machine is slow.
const PATIENCE: Duration = Duration::from_mins(2);

/// The commands without a response, by their id.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A connection to a browser.
pub(super) struct Connection {
    commands: AsyncMutex<(ChildStdin, u64)>,
    waiting: Waiting,
}

impl Connection {
    /// Gives every event to `note`: its method and its parameters.
    pub(super) fn new(
        commands: ChildStdin,
        messages: ChildStdout,
        note: impl Fn(&str, &Value) + Send + 'static,
    ) -> Self {
        let waiting = Waiting::default();
        let answered = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut messages = BufReader::new(messages).split(0);
            while let Ok(Some(message)) = messages.next_segment().await {
                let message: Value = serde_json::from_slice(&message).unwrap();
                match message["id"].as_u64() {
                    Some(id) => {
                        let waiting = answered.lock().unwrap().remove(&id);
                        // A window that is closed awaits no response.
                        let _ = waiting.map(|waiting| waiting.send(message));
                    }
                    None => note(message["method"].as_str().unwrap(), &message["params"]),
                }
            }
            // The browser has ended.
            answered.lock().unwrap().clear();
        });
        Self { commands: AsyncMutex::new((commands, 0)), waiting }
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
        {
            let (pipe, last) = &mut *self.commands.lock().await;
            *last += 1;
            command["id"] = json!(last);
            self.waiting.lock().unwrap().insert(*last, sender);
            pipe.write_all(format!("{command}\0").as_bytes()).await.map_err(|error| error.to_string())?;
        }
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
    connection: Arc<Connection>,
    target: String,
    session: String,
}

impl Page {
    /// Opens an empty tab.
    pub(super) async fn open(connection: &Arc<Connection>) -> Self {
        let target =
            connection.call(None, "Target.createTarget", json!({"url": "about:blank"})).await.unwrap();
        let target = target["targetId"].as_str().unwrap().to_owned();
        let attached = json!({"targetId": target, "flatten": true});
        let session = connection.call(None, "Target.attachToTarget", attached).await.unwrap();
        let session = session["sessionId"].as_str().unwrap().to_owned();
        Self { connection: Arc::clone(connection), target, session }
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

    pub(super) async fn close(self) {
        let target = json!({"targetId": self.target});
        self.connection.call(None, "Target.closeTarget", target).await.unwrap();
    }
}
