//! A cloud of a test's own template, with the parrot for functions, and requests as no HTTP client would send them.

use std::path::PathBuf;
use std::time::Duration;

use local::{Binaries, Options, Upstream};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Where `cargo test` puts examples.
fn examples() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().with_file_name("examples")
}

/// Options for a cloud of the template; each test writes its own file.
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

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends bytes as they are, which no HTTP client would.
pub(crate) async fn send(url: &str, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}
