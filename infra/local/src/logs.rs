//! What functions write, and what the platform has to say about them: kept for tests, handed on line by line.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How many lines are kept; the oldest go.
const KEPT_LINES: usize = 10_000;

/// Takes one line, without its end.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Logs {
    lines: Arc<Mutex<VecDeque<String>>>,
    sink: Option<Sink>,
}

impl fmt::Debug for Logs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Logs").finish_non_exhaustive()
    }
}

impl Logs {
    pub(crate) fn new(sink: Option<Sink>) -> Self {
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

    /// Takes every line that `output` has until it ends.
    pub(crate) async fn follow(self, output: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
            self.push(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
}
