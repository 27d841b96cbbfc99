//! The part of Lambda that a start-up needs: spawns a function and waits for its first request for work.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The longest that a function may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The interval between two checks whether the function has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The part of the Runtime API that a start-up needs.
pub(crate) struct Platform {
    address: SocketAddr,
    /// The times of requests for work; `None` for any other request.
    requests: Receiver<Option<Instant>>,
}

impl Platform {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (sender, requests) = mpsc::channel();
        // The thread ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if sender.send(request_for_work(stream)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { address, requests })
    }

    /// The time from the spawn of the program to its first request for work. The program is killed then.
    ///
    /// # Errors
    /// A sentence, when it exits or sends no request for work.
    pub(crate) fn start_up(&self, program: &Path) -> Result<Duration, String> {
        let name = program.display();
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs([
            ("AWS_LAMBDA_RUNTIME_API", self.address.to_string().as_str()),
            ("AWS_LAMBDA_FUNCTION_NAME", "measured"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "measured"),
            ("AWS_SECRET_ACCESS_KEY", "measured"),
            // The functions open connections early only to servers with TLS, so these receive nothing and the network
            // does not affect the measurement.
            ("HYPIXEL_BASE_URL", "http://127.0.0.1:9"),
            ("MOJANG_BASE_URL", "http://127.0.0.1:9"),
            ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9"),
            ("HYPIXEL_API_KEY", "measured"),
        ]);
        // Requests that an earlier function sent before it was killed.
        while self.requests.try_recv().is_ok() {}
        let start = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let requested_at = self.first_request(&mut child, start);
        // It may have exited by itself.
        let _ = child.kill();
        let _ = child.wait();
        requested_at.map(|time| time.duration_since(start)).map_err(|reason| format!("{name} {reason}"))
    }

    fn first_request(&self, child: &mut Child, start: Instant) -> Result<Instant, String> {
        loop {
            match self.requests.recv_timeout(POLL_INTERVAL) {
                Ok(Some(requested_at)) => return Ok(requested_at),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    return Err("has sent a request other than one for work".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("has exited without a request for work: {status}"));
            }
            if start.elapsed() > TIMEOUT {
                return Err(format!("has sent no request for work within {} s", TIMEOUT.as_secs()));
            }
        }
    }
}

/// The time of the request, if it is one for work.
fn request_for_work(mut stream: TcpStream) -> Option<Instant> {
    let mut beginning = [0; 4];
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.read_exact(&mut beginning).ok()?;
    (&beginning == b"GET ").then(Instant::now)
}
