//! Reads the log lines of functions.

use std::time::{Duration, Instant};

use local::Cloud;
use serde_json::Value;

/// Panics if a function has panicked.
#[track_caller]
pub(crate) fn expect_clean_logs(cloud: &Cloud) {
    for line in cloud.logs() {
        assert!(!line.contains("panicked"), "{line}");
    }
}

/// The JSON log lines that functions have written until now.
pub(crate) fn log_lines(cloud: &Cloud) -> Vec<Value> {
    cloud.logs().iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits for `count` matching JSON log lines, and returns them. A line may arrive a moment after its response.
pub(crate) async fn await_logs(cloud: &Cloud, count: usize, matches: impl Fn(&Value) -> bool) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let lines: Vec<_> = log_lines(cloud).into_iter().filter(&matches).take(count).collect();
        if lines.len() == count {
            return lines;
        }
        assert!(
            start.elapsed() < Duration::from_mins(3),
            "{} of {count} lines: {:#?}",
            lines.len(),
            cloud.logs()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
