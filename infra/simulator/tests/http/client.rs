//! A client that returns the received bytes unchanged, with one connection per request.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;
use simulator::{Clock, Options, Simulator};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A simulator of seed 1 on a free port, and its clock.
pub(crate) async fn start() -> (Simulator, Clock) {
    let clock = Clock::system();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    (Simulator::start(Options { seed: 1, address, clock: clock.clone() }).await.unwrap(), clock)
}

/// A response. If there was none, the status is 0.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The head, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(crate) fn inflated(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&self.body[..]).read_to_end(&mut plain).unwrap();
        plain
    }
}

pub(crate) async fn get(simulator: &Simulator, path: &str) -> Response {
    request(simulator, "GET", path, &[]).await
}

pub(crate) async fn get_with(simulator: &Simulator, path: &str, headers: &[(&str, &str)]) -> Response {
    request(simulator, "GET", path, headers).await
}

pub(crate) async fn request(
    simulator: &Simulator,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Response {
    let address = simulator.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let fixed = [("host", "simulator"), ("connection", "close")];
    let mut lines = vec![format!("{method} {path} HTTP/1.1")];
    lines.extend(fixed.iter().chain(headers).map(|(name, value)| format!("{name}: {value}")));
    let text = format!("{}\r\n\r\n", lines.join("\r\n"));
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    // A connection may deliver data before it is reset.
    let _ = stream.read_to_end(&mut received).await;
    let head_length = received.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
    let body = received.split_off(head_length);
    let head = String::from_utf8(received).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    Response { status, head, body }
}
