//! Messages on standard error. Standard output is for results only.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use common::auth::without_keys;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Writes a line without keys, which operators paste where they do not belong, such as in place of a file.
/// Errors are ignored: a closed standard error does not stop a command.
pub(crate) fn print(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", without_keys(&line.to_string()));
}

/// Shows the warnings of the crate `tables` about rows that cannot be read.
pub(crate) fn show_warnings() {
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(io::stderr);
    let rows = Targets::new().with_target("tables", Level::WARN);
    // An error means that there already is a subscriber, which then shows the warnings.
    let _ = tracing_subscriber::registry().with(lines).with(rows).try_init();
}

/// Shows the progress of a command.
pub(crate) struct Progress {
    /// When the latest line was shown, or when the command started.
    shown: Instant,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { shown: Instant::now() }
    }

    /// Writes the line, at most every ten seconds, and only on a terminal.
    pub(crate) fn show(&mut self, line: impl Display) {
        if self.shown.elapsed() >= PROGRESS_INTERVAL && io::stderr().is_terminal() {
            self.shown = Instant::now();
            print(line);
        }
    }
}
