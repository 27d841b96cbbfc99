//! Clients with a connection each, which stays open.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// What a body from a cache has.
const REMEMBERED_MARK: &[u8] = br#""cached":true"#;

/// The API under load.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Host and port.
    pub(super) authority: String,
    pub(super) key: String,
}

/// The outcomes of requests.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// The times of responses from memory, in microseconds.
    pub(super) remembered: Vec<u32>,
    /// The times of all other good responses.
    pub(super) fetched: Vec<u32>,
    /// The number of other outcomes, by status or reason.
    pub(super) errors: BTreeMap<String, u64>,
}

impl Outcomes {
    pub(super) fn merge(&mut self, other: Self) {
        self.remembered.extend(other.remembered);
        self.fetched.extend(other.fetched);
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
    }

    pub(super) fn successes(&self) -> usize {
        self.remembered.len() + self.fetched.len()
    }
}

/// When a client sends its next request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// After the last response.
    Closed,
    /// At fixed times, however long responses take: the first, and the time between two.
    Open { first: Instant, interval: Duration },
}

/// Sends requests until `end`, and returns their outcomes. Times count from when a request is due.
pub(super) async fn run(
    target: Target,
    paths: &'static [&'static str],
    turn: usize,
    pace: Pace,
    end: Instant,
) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut connection = None;
    for (sent, path) in (0_u32..).zip(paths.iter().cycle().skip(turn)) {
        let due = match pace {
            Pace::Closed => Instant::now(),
            Pace::Open { first, interval } => first + interval * sent,
        };
        if due >= end {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        let result = send(&target, &mut connection, path).await;
        let micros = u32::try_from(due.elapsed().as_micros()).unwrap_or(u32::MAX);
        match result {
            Ok(true) => outcomes.remembered.push(micros),
            Ok(false) => outcomes.fetched.push(micros),
            Err(reason) => {
                *outcomes.errors.entry(reason).or_default() += 1;
                connection = None;
            }
        }
    }
    outcomes
}

/// Whether the response is one from memory.
async fn send(
    target: &Target,
    connection: &mut Option<SendRequest<Empty<Bytes>>>,
    path: &str,
) -> Result<bool, String> {
    let sender = match connection {
        Some(sender) => sender,
        None => connection.insert(connect(&target.authority).await?),
    };
    let request = Request::get(path).header(HOST, &target.authority).header("x-api-key", &target.key);
    let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
    let failed = |error: hyper::Error| format!("connection: {error}");
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
    if !status.is_success() {
        return Err(status.as_u16().to_string());
    }
    // The mark is at the end of a body.
    let end = body.get(body.len().saturating_sub(200)..).unwrap_or_default();
    Ok(end.windows(REMEMBERED_MARK.len()).any(|window| window == REMEMBERED_MARK))
}

async fn connect(authority: &str) -> Result<SendRequest<Empty<Bytes>>, String> {
    let stream = TcpStream::connect(authority).await.map_err(|error| format!("cannot connect: {error}"))?;
    // It fails on a closed socket only.
    let _ = stream.set_nodelay(true);
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|error| format!("cannot connect: {error}"))?;
    tokio::spawn(connection);
    Ok(sender)
}
