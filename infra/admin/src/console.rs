//! What the operator sees while a command runs: lines on standard error, and a progress bar below them when standard
//! error is a terminal. They share one place, so that a line never ends up inside the bar. Standard output is for data.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Shows that the command is alive while the table is slow.
const REDRAW: Duration = Duration::from_millis(250);

/// Standard error.
#[derive(Clone)]
pub(crate) struct Console(MultiProgress);

impl Console {
    pub(crate) fn new() -> Self {
        Self(MultiProgress::new())
    }

    /// Writes a line. Whoever has closed standard error does not want to read it; that is no reason to stop.
    pub(crate) fn say(&self, line: impl Display) {
        self.0.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{line}");
        });
    }

    /// Shows the warnings about rows that cannot be read.
    pub(crate) fn show_warnings(&self) {
        let console = self.clone();
        let lines = tracing_subscriber::fmt::layer()
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || console.clone());
        let rows = Targets::new().with_target("tables", Level::WARN);
        // It fails where a subscriber is set already: then that one shows them.
        let _ = tracing_subscriber::registry().with(lines).with(rows).try_init();
    }

    /// A bar for so many bytes, or for lines where their size is not known beforehand.
    pub(crate) fn progress_in_bytes(&self, total: Option<u64>) -> ProgressBar {
        match total {
            Some(_) => self.bar(total, "{bar:20} {bytes}/{total_bytes}, {eta} left, {wide_msg}"),
            None => self.bar(None, "{spinner} {bytes}, {wide_msg}"),
        }
    }

    /// A bar for so many rows, or a count of them where their number is not known beforehand.
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
        bar.enable_steady_tick(REDRAW);
        bar
    }
}

/// Takes whole events: `tracing` writes each of them at once.
impl Write for Console {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().lock().write_all(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
