//! Output, progress and signals of `cargo local`.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::signal::unix::{SignalKind, signal};

use crate::backfill::{Progress, ProgressSink};
use crate::logs::LineSink;

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

/// Shows the progress on the bar, which is invisible if standard error is not a terminal.
#[must_use]
pub fn progress_on(bar: ProgressBar) -> ProgressSink {
    Arc::new(move |progress: &Progress| {
        if bar.length() != Some(progress.total) {
            bar.set_style(ProgressStyle::default_bar());
            bar.set_length(progress.total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_position(progress.done);
        if let Some(message) = &progress.message {
            bar.suspend(|| print_error(message));
        }
        if progress.done == progress.total {
            bar.finish_and_clear();
        }
    })
}

/// A sink that prints lines above the bar.
#[must_use]
pub fn lines_above(bar: ProgressBar, print: fn(&str)) -> LineSink {
    Arc::new(move |line: &str| bar.suspend(|| print(line)))
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
