//! One instance of a function: its process, and its Lambda Runtime API.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
#[cfg(target_os = "linux")]
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};

use crate::server::Server;

const PATH: &str = "/2018-06-01/runtime/";
/// An upstream where nothing listens. The functions open connections early only to TLS servers, so the
/// network does not affect a start.
pub(crate) const NO_SERVER: &str = "http://127.0.0.1:9";
/// The longest time between two calls of the function to the Runtime API.
const TIMEOUT: Duration = Duration::from_secs(30);

enum Call {
    Poll { at: Instant, event: oneshot::Sender<Bytes> },
    Response(Bytes),
    Failure(Bytes),
}

/// A running function that waits for an event.
#[derive(Debug)]
pub(crate) struct Instance {
    name: String,
    child: Child,
    pid: Pid,
    calls: mpsc::UnboundedReceiver<Call>,
    poll: Option<oneshot::Sender<Bytes>>,
    /// The time from the spawn to the first poll.
    pub(crate) started_in: Duration,
    _api: Server,
}

impl Instance {
    /// Starts the program with the provider and the name service at `upstream`, and waits for its first poll.
    /// Dropping the instance kills the process.
    ///
    /// # Errors
    /// If the program does not start, ends, or does not poll.
    pub(crate) async fn start(program: &Path, upstream: &str) -> Result<Self, String> {
        let name = program.display().to_string();
        let (sender, calls) = mpsc::unbounded_channel();
        let api = Server::start(move |request| respond(request, sender.clone())).await?;
        let mut command = command(program, upstream, &api.address().to_string());
        let start = Instant::now();
        let child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let pid = id.map(Pid::from_raw).ok_or_else(|| format!("{name} has ended"))?;
        let mut instance =
            Self { name, child, pid, calls, poll: None, started_in: Duration::ZERO, _api: api };
        instance.started_in = instance.wait_for_poll().await?.duration_since(start);
        Ok(instance)
    }

    /// Sends the event to the function, and returns the response as soon as the function polls for the next
    /// event.
    ///
    /// # Errors
    /// If the function does not respond.
    pub(crate) async fn invoke(&mut self, event: Bytes) -> Result<Bytes, String> {
        if self.poll.take().is_none_or(|poll| poll.send(event).is_err()) {
            return Err(format!("{} does not wait for an event", self.name));
        }
        let payload = match self.next_call().await? {
            Call::Response(payload) => payload,
            Call::Poll { .. } => return Err(format!("{} has polled again without a response", self.name)),
            Call::Failure(payload) => return Err(self.failure(&payload)),
        };
        self.wait_for_poll().await?;
        Ok(payload)
    }

    /// The processor time of all threads of the process until now.
    ///
    /// # Errors
    /// If the process has ended.
    #[cfg(target_os = "linux")]
    pub(crate) fn processor_time(&self) -> Result<Duration, String> {
        let time = clock_getcpuclockid(self.pid).and_then(nix::time::ClockId::now);
        time.map(Duration::from)
            .map_err(|error| format!("cannot read the processor time of {}: {error}", self.name))
    }

    /// # Errors
    /// Always, because this needs Linux.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn processor_time(&self) -> Result<Duration, String> {
        Err("reading the processor time of another process needs Linux".to_owned())
    }

    /// Ends the process and waits until it has ended.
    pub(crate) async fn stop(mut self) {
        // This fails if the process has already ended.
        let _ = self.child.kill().await;
    }

    async fn wait_for_poll(&mut self) -> Result<Instant, String> {
        match self.next_call().await? {
            Call::Poll { at, event } => {
                self.poll = Some(event);
                Ok(at)
            }
            Call::Response(_) => Err(format!("{} has responded without an event", self.name)),
            Call::Failure(payload) => Err(self.failure(&payload)),
        }
    }

    async fn next_call(&mut self) -> Result<Call, String> {
        tokio::select! {
            biased;
            Some(call) = self.calls.recv() => Ok(call),
            _ = self.child.wait() => Err(format!("{} has exited", self.name)),
            () = tokio::time::sleep(TIMEOUT) => {
                Err(format!("{} has sent nothing for {} s", self.name, TIMEOUT.as_secs()))
            }
        }
    }

    fn failure(&self, payload: &[u8]) -> String {
        format!("{} has failed: {}", self.name, String::from_utf8_lossy(payload))
    }
}

fn command(program: &Path, upstream: &str, api: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs([
        ("AWS_LAMBDA_RUNTIME_API", api),
        ("AWS_LAMBDA_FUNCTION_NAME", "measured"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "measured"),
        ("AWS_SECRET_ACCESS_KEY", "measured"),
        ("HYPIXEL_BASE_URL", upstream),
        ("MOJANG_BASE_URL", upstream),
        ("AWS_ENDPOINT_URL_DYNAMODB", NO_SERVER),
        // `record-auctions` and `auctions-listings` do not start without a place.
        ("LISTINGS", "file:///tmp"),
        // `payments` does not start without prices.
        ("PRICE_TIERS", "price_1=pro"),
        ("HYPIXEL_API_KEY", "measured-without-a-key"),
    ]);
    command
}

async fn respond(request: Request<Incoming>, calls: mpsc::UnboundedSender<Call>) -> Response<Full<Bytes>> {
    let at = Instant::now();
    let path = request.uri().path().strip_prefix(PATH).unwrap_or_default().to_owned();
    if request.method() == Method::GET && path == "invocation/next" {
        let (event, next) = oneshot::channel();
        // This fails if the instance has been dropped, which also kills the process.
        let _ = calls.send(Call::Poll { at, event });
        return next.await.map_or_else(|_| status(StatusCode::GONE), with_event);
    }
    let Ok(body) = request.into_body().collect().await else { return status(StatusCode::BAD_REQUEST) };
    let payload = body.to_bytes();
    let is_response = path.ends_with("/response");
    let _ = calls.send(if is_response { Call::Response(payload) } else { Call::Failure(payload) });
    status(StatusCode::ACCEPTED)
}

fn with_event(event: Bytes) -> Response<Full<Bytes>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = format!("00000000-0000-4000-8000-{:012x}", now.as_micros() & 0xffff_ffff_ffff);
    let response = Response::builder()
        .header("content-type", "application/json")
        .header("lambda-runtime-aws-request-id", id)
        .header("lambda-runtime-deadline-ms", (now + TIMEOUT).as_millis().to_string())
        .header(
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:eu-central-1:123456789012:function:measured",
        )
        .header("lambda-runtime-trace-id", format!("Root=1-{:08x}-0123456789abcdef01234567", now.as_secs()))
        .body(Full::new(event));
    response.unwrap_or_default()
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(r#"{"status":"OK"}"#));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_never_requests_work_is_an_error() {
        let error = Instance::start(Path::new("/bin/true"), NO_SERVER).await.unwrap_err();
        assert_eq!(error, "/bin/true has exited");
    }
}
