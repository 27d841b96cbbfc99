//! Messages and progress on standard error. They share one writer, so that a message does not break the progress bar.
//! Standard output is for results only.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How often the progress bar is redrawn while the table is slow.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);

/// Standard error.
#[derive(Clone)]
pub(crate) struct Console(MultiProgress);

impl Console {
    pub(crate) fn new() -> Self {
        Self(MultiProgress::new())
    }

    /// Writes a line. Errors are ignored: a closed standard error does not stop a command.
    pub(crate) fn print(&self, line: impl Display) {
        self.0.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{line}");
        });
    }

    /// Shows the warnings of the crate `tables` about rows that cannot be read.
    pub(crate) fn show_warnings(&self) {
        let console = self.clone();
        let lines = tracing_subscriber::fmt::layer()
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || console.clone());
        let rows = Targets::new().with_target("tables", Level::WARN);
        // This fails if there is a subscriber already, which then shows them.
        let _ = tracing_subscriber::registry().with(lines).with(rows).try_init();
    }

    /// A progress bar for `total` bytes, or a counter if the total is unknown.
    pub(crate) fn progress_in_bytes(&self, total: Option<u64>) -> ProgressBar {
        match total {
            Some(_) => self.bar(total, "{bar:20} {bytes}/{total_bytes}, {eta} left, {wide_msg}"),
            None => self.bar(None, "{spinner} {bytes}, {wide_msg}"),
        }
    }

    /// A progress bar for `total` rows, or a counter if the total is unknown.
    pub(crate) fn progress_in_rows(&self, total: Option<u64>) -> ProgressBar {
        match total {
            Some(_) => self.bar(total, "{bar:40} {pos}/{len}, {eta} left"),
            None => self.bar(None, "{spinner} {pos}"),
        }
    }

    fn bar(&self, total: Option<u64>, template: &str) -> ProgressBar {
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let bar = self.0.add(bar);
        bar.enable_steady_tick(REDRAW_INTERVAL);
        bar
    }
}

/// A progress bar that disappears when it is dropped.
pub(crate) struct ClearOnDrop(pub(crate) ProgressBar);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// `tracing` writes each event with one call.
impl Write for Console {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().lock().write_all(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
