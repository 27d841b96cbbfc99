//! What functions write, and what the platform has to say about them: kept for tests, handed on line by line.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
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
            // A sink that panics must neither end an invocation nor leave a function's output unread: the function would
            // be stuck, or get a broken pipe. The panic has been reported by its hook.
            let _ = panic::catch_unwind(AssertUnwindSafe(|| sink(line)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_is_read_to_its_end_even_if_the_sink_panics() {
        let logs = Logs::new(Some(Arc::new(|line| assert_ne!(line, "one", "a sink that cannot write"))));
        logs.clone().follow(&b"one\ntwo\nthree"[..]).await;
        assert_eq!(logs.lines(), ["one", "two", "three"]);
    }
}
