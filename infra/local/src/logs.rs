//! The output of the functions, and the platform's own log lines about them. Lines are kept for tests and
//! passed on to a [`LineSink`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The number of lines that are kept; the oldest are dropped.
const KEPT_LINES: usize = 10_000;

/// Receives a line, without its line break.
pub type LineSink = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Logs {
    lines: Arc<Mutex<VecDeque<String>>>,
    sink: Option<LineSink>,
}

impl Logs {
    pub(crate) fn new(sink: Option<LineSink>) -> Self {
        Self { lines: Arc::default(), sink }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn push(&self, line: &str) {
        if let Some(sink) = &self.sink {
            sink(line);
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Reads the lines of `output` to its end.
    pub(crate) async fn follow(self, output: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
            self.push(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
}
