//! Output and signals of `cargo local`.

use std::io::{self, Write as _};

use tokio::signal::unix::{SignalKind, signal};

/// Prints a line to standard output. A closed output is not an error.
pub(crate) fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints a line to standard error. A closed output is not an error.
pub(crate) fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// When signals cannot be received.
pub(crate) async fn interrupted() -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot listen for signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
        _ = terminate.recv() => Ok(()),
    }
}
