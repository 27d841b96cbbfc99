//! A local cloud in a process of its own, as `cargo local` starts it.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::release::{self, target};
use crate::workspace;

/// The line after which the cloud accepts requests.
const READY: &str = "ready";

/// A running local cloud. Dropping it asks the process to end, and with it the functions.
#[derive(Debug)]
pub(crate) struct Cloud {
    pub(crate) pid: Pid,
    /// What the cloud printed before it was ready, by the first words of each line.
    printed: HashMap<String, String>,
    _process: Child,
}

impl Cloud {
    /// Starts a cloud on free ports, with the functions in the folder.
    ///
    /// # Errors
    /// A sentence, when it does not start; it has printed why.
    pub(crate) async fn start(functions: &Path, options: &[&str]) -> Result<Self, String> {
        release::cargo(&["build", "--package", "local"])?;
        let mut command = Command::new(target()?.join("debug/local"));
        command.args(["--port", "0", "--lambda-port", "0", "--dynamodb-port", "0"]);
        command.arg("--binaries").arg(functions).args(options);
        command.current_dir(workspace()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process =
            command.spawn().map_err(|error| format!("cannot start the local cloud: {error}"))?;
        let pid = process.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let (pid, output) = pid.zip(process.stdout.take()).ok_or("the local cloud has ended")?;
        let mut lines = BufReader::new(output).lines();
        let mut printed = HashMap::new();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some((name, value)) = line.rsplit_once(' ') {
                printed.insert(name.to_owned(), value.to_owned());
                if name == READY {
                    // A cloud stops when its output is not read.
                    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                    return Ok(Self { pid, printed, _process: process });
                }
            }
        }
        Err("the local cloud does not start".to_owned())
    }

    /// The value of the line that starts with `name`, such as `dynamodb` or `key pro`.
    ///
    /// # Errors
    /// A sentence, when it has printed no such line.
    pub(crate) fn printed(&self, name: &str) -> Result<&str, String> {
        let value = self.printed.get(name).map(String::as_str);
        value.ok_or_else(|| format!("the local cloud has printed no line with {name}"))
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        // It fails if the process has already ended.
        let _ = kill(self.pid, Signal::SIGTERM);
    }
}
