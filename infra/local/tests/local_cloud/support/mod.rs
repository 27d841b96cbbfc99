//! A cloud with a test's own template, in which every function is the parrot, and a client that sends raw
//! bytes.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use flate2::read::GzDecoder;
use local::{Binaries, Options, Upstream};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The folder in which `cargo test` puts examples.
fn examples() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().with_file_name("examples")
}

/// Options for a cloud with this template, which is written to a file named after the test.
pub(crate) fn options(test: &str, template: &str) -> Options {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.yaml"));
    std::fs::write(&path, template).unwrap();
    Options {
        template: path,
        binaries: Binaries::Folder(examples()),
        upstream: Upstream::Live,
        ..Options::for_tests()
    }
}

/// The value of the parrot's key of a usage plan, for this API key.
pub(crate) fn value_of(key: &str) -> String {
    format!("{key:0<24}")
}

/// Sends a JSON request to a cloud's Invoke API or control plane.
pub(crate) async fn send_json(url: &str, method: &str, target: &str, body: &Value) -> Response {
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    send(url, request.as_bytes()).await
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Decompressed.
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends the bytes as they are.
pub(crate) async fn send(url: &str, request: &[u8]) -> Response {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut response = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut response)).await.unwrap().unwrap();
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let sent = response.split_off(end + 4);
    let head = String::from_utf8(response).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = String::new();
    if head.contains("content-encoding: gzip") {
        GzDecoder::new(&sent[..]).read_to_string(&mut body).unwrap();
    } else {
        body = String::from_utf8(sent).unwrap();
    }
    Response { status, head, body }
}
