//! Output and signals of `cargo local`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

/// Prints a line to standard output. A closed output is not an error.
pub fn print(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints a line to standard error. A closed output is not an error.
pub fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints an error, and returns the exit code.
#[must_use]
pub fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            print_error(&format!("error: {sentence}"));
            ExitCode::FAILURE
        }
    }
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// When signals cannot be received.
pub async fn interrupted() -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot listen for signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
        _ = terminate.recv() => Ok(()),
    }
}
