//! As much of Lambda as a start-up sees: it spawns a function and waits for its first question for work.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long a function may take to ask.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether a function that has not asked yet is still there.
const GLANCE: Duration = Duration::from_millis(100);

/// The Runtime API, as far as it is needed.
pub(crate) struct Platform {
    address: SocketAddr,
    /// When somebody asked for work; `None` for whoever wanted something else.
    questions: Receiver<Option<Instant>>,
}

impl Platform {
    /// Listens on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (sender, questions) = mpsc::channel();
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if sender.send(question(stream)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { address, questions })
    }

    /// How long the program takes from being spawned to its first question for work. It is ended then.
    ///
    /// # Errors
    /// A sentence, when it ends or never asks.
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
            // Nothing is asked of them: connections are opened early only where there is TLS, and how long a network
            // takes is not what is measured.
            ("HYPIXEL_BASE_URL", "http://127.0.0.1:9"),
            ("MOJANG_BASE_URL", "http://127.0.0.1:9"),
            ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9"),
            ("HYPIXEL_API_KEY", "measured"),
        ]);
        // What an earlier function asked while it was being ended.
        while self.questions.try_recv().is_ok() {}
        let start = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {error}"))?;
        let asked = self.first_question(&mut child, start);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        asked.map(|asked| asked.duration_since(start)).map_err(|reason| format!("{name} {reason}"))
    }

    fn first_question(&self, child: &mut Child, start: Instant) -> Result<Instant, String> {
        loop {
            match self.questions.recv_timeout(GLANCE) {
                Ok(Some(asked)) => return Ok(asked),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    return Err("asks for something else than work".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("has ended without asking for work: {status}"));
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("has not asked for work within {} s", PATIENCE.as_secs()));
            }
        }
    }
}

/// When the question came, if it is one for work.
fn question(mut stream: TcpStream) -> Option<Instant> {
    let mut beginning = [0; 4];
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.read_exact(&mut beginning).ok()?;
    (&beginning == b"GET ").then(Instant::now)
}
