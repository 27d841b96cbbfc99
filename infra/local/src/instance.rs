//! One instance of a function: its process and its Runtime API.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};

use crate::arn::REGION;
use crate::logs::Logs;
use crate::runtime_api::{MAX_RESPONSE_BYTES, Outcome, RuntimeApi};
use crate::template::Function;

/// The limit for a function's first poll, as on Lambda.
const INIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why an invocation has no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the process does not start: {0}")]
    Spawn(#[source] io::Error),
    #[error("the function failed to start: {}", String::from_utf8_lossy(.0))]
    Init(Bytes),
    #[error("the function did not poll for an event within {} s of its start", INIT_TIMEOUT.as_secs())]
    InitTimeout,
    #[error("the process ended before it polled for an event: {0}")]
    EndedInInit(ExitStatus),
    #[error("the process ended while it was idle: {0}")]
    EndedIdle(ExitStatus),
    #[error("the process ended during the invocation: {0}")]
    Ended(ExitStatus),
    #[error("the invocation failed: {}", String::from_utf8_lossy(.0))]
    Function(Bytes),
    #[error("the response is larger than {MAX_RESPONSE_BYTES} bytes")]
    TooLarge,
    #[error("the invocation took longer than {:.2} s", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("the process was killed")]
    Killed,
    #[error("the local cloud is shutting down")]
    Stopped,
}

impl Failure {
    /// Whether the process can handle another event.
    pub(crate) fn keeps_instance_usable(&self) -> bool {
        matches!(self, Self::Function(_) | Self::TooLarge)
    }

    /// Lambda's response to the caller: the function's own error, if it posted one.
    pub(crate) fn payload(&self) -> Bytes {
        let error_type = match self {
            Self::Init(payload) | Self::Function(payload) => return payload.clone(),
            Self::Spawn(_) => "Runtime.InvalidEntrypoint",
            Self::InitTimeout | Self::TimedOut(_) => "Sandbox.Timedout",
            Self::EndedInInit(_) | Self::EndedIdle(_) | Self::Ended(_) | Self::Killed => "Runtime.ExitError",
            Self::TooLarge => "Function.ResponseSizeTooLarge",
            Self::Stopped => "Sandbox.Failure",
        };
        Bytes::from(json!({"errorType": error_type, "errorMessage": self.to_string()}).to_string())
    }
}

#[derive(Debug)]
pub(crate) struct Instance {
    /// The exit status of the process; `None` while it runs.
    ended: watch::Receiver<Option<ExitStatus>>,
    /// Dropping it kills the process.
    kill: oneshot::Sender<()>,
    api: RuntimeApi,
    fresh: bool,
}

impl Instance {
    /// Starts a process, which is killed when the instance is dropped.
    ///
    /// # Errors
    /// When the operating system cannot start the process.
    pub(crate) async fn start(function: &Function, program: &Path, logs: &Logs) -> Result<Self, Failure> {
        let api = RuntimeApi::start(&function.logical_id).await.map_err(Failure::Spawn)?;
        let mut child =
            command(function, program, &api.address().to_string()).spawn().map_err(Failure::Spawn)?;
        if let Some(output) = child.stdout.take() {
            tokio::spawn(logs.clone().follow(output));
        }
        if let Some(output) = child.stderr.take() {
            tokio::spawn(logs.clone().follow(output));
        }
        let (ended_sender, ended) = watch::channel(None);
        let (kill, killed) = oneshot::channel();
        tokio::spawn(reap(child, killed, ended_sender));
        Ok(Self { ended, kill, api, fresh: true })
    }

    /// Invokes the function and returns its response to the event.
    ///
    /// # Errors
    /// When the function does not respond. With `EndedIdle`, the function has not seen the event.
    pub(crate) async fn invoke(
        &mut self,
        request_id: &str,
        event: Bytes,
        timeout: Duration,
    ) -> Result<Bytes, Failure> {
        if self.fresh {
            self.initialize().await?;
        } else if let Some(status) = *self.ended.borrow() {
            return Err(Failure::EndedIdle(status));
        }
        let outcome = self.api.offer(request_id, event, timeout);
        tokio::select! {
            // A response is valid even if the process ends right after it.
            biased;
            Ok(outcome) = outcome => match outcome {
                Outcome::Response(payload) => Ok(payload),
                Outcome::Error(payload) => Err(Failure::Function(payload)),
                Outcome::TooLarge => Err(Failure::TooLarge),
            },
            status = exit_status(&self.ended) => {
                Err(if self.api.is_fetched() { Failure::Ended(status) } else { Failure::EndedIdle(status) })
            },
            () = tokio::time::sleep(timeout) => Err(Failure::TimedOut(timeout)),
        }
    }

    async fn initialize(&mut self) -> Result<(), Failure> {
        tokio::select! {
            biased;
            started = self.api.started() => started.map_err(Failure::Init)?,
            status = exit_status(&self.ended) => return Err(Failure::EndedInInit(status)),
            () = tokio::time::sleep(INIT_TIMEOUT) => return Err(Failure::InitTimeout),
        }
        self.fresh = false;
        Ok(())
    }

    /// Kills the process and waits until it has ended.
    pub(crate) async fn stop(mut self) {
        drop(self.kill);
        // An error means that the sender is gone, and with it the process.
        let _ = self.ended.wait_for(Option::is_some).await;
    }
}

/// Waits until the process ends, so that it never becomes a zombie, even while its instance is idle. Kills
/// the process when the sender of `killed` is dropped.
async fn reap(mut child: Child, killed: oneshot::Receiver<()>, ended: watch::Sender<Option<ExitStatus>>) {
    let status = tokio::select! {
        status = child.wait() => status,
        _ = killed => {
            // An error means that the process has already ended.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    // Waiting for a child process does not fail.
    ended.send_replace(status.ok());
}

/// Waits until the process has ended.
async fn exit_status(ended: &watch::Receiver<Option<ExitStatus>>) -> ExitStatus {
    let status = ended.clone().wait_for(Option::is_some).await.ok().and_then(|status| *status);
    match status {
        Some(status) => status,
        // The status is not known, so the timeout of the invocation applies.
        None => std::future::pending().await,
    }
}

/// The command for the process. Its environment has only the variables of the runtime `provided.al2023` and
/// of the function.
fn command(function: &Function, program: &Path, runtime_api: &str) -> Command {
    let mut command = Command::new(program);
    let task_root = program.parent().unwrap_or(Path::new("/"));
    command
        .env_clear()
        .kill_on_drop(true)
        // Ctrl-C must reach only the local cloud, which ends its functions itself.
        .process_group(0)
        .current_dir(task_root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("AWS_LAMBDA_RUNTIME_API", runtime_api)
        .env("AWS_LAMBDA_FUNCTION_NAME", &function.logical_id)
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.memory_mb.to_string())
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{}", function.logical_id))
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "local")
        .env("AWS_REGION", REGION)
        .env("AWS_DEFAULT_REGION", REGION)
        .env("AWS_ACCESS_KEY_ID", "local")
        .env("AWS_SECRET_ACCESS_KEY", "local")
        .env("AWS_SESSION_TOKEN", "local")
        .env("_HANDLER", "bootstrap")
        .env("LAMBDA_TASK_ROOT", task_root)
        .env("LAMBDA_RUNTIME_DIR", "/var/runtime")
        .env("LANG", "en_US.UTF-8")
        .env("TZ", ":UTC")
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/opt/bin")
        .envs(&function.environment);
    command
}
