//! Reads the log lines of functions.

use std::time::{Duration, Instant};

use local::Cloud;
use serde_json::Value;

use super::http::Response;

/// The header of a response with the id of its request. In the local cloud, the log line of the function has
/// the same id; on AWS, the access log connects both.
pub(super) const REQUEST_ID: &str = "x-amzn-requestid";

/// The log lines of a function about one request.
pub(crate) struct Log {
    pub(crate) line: Value,
    /// Earlier lines of the same request, such as warnings about its rows.
    pub(crate) warnings: Vec<Value>,
}

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

/// Waits for `count` matching JSON log lines, and returns them. A line may arrive a moment after its
/// response.
pub(crate) async fn await_logs(cloud: &Cloud, count: usize, matches: impl Fn(&Value) -> bool) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let lines: Vec<_> = log_lines(cloud).into_iter().filter(&matches).take(count).collect();
        if lines.len() == count {
            return lines;
        }
        assert!(
            start.elapsed() < Duration::from_mins(10),
            "{} of {count} lines: {:#?}",
            lines.len(),
            cloud.logs()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the log line of the request with this response.
pub(crate) async fn line_of(cloud: &Cloud, response: &Response) -> Value {
    let id = response.headers[REQUEST_ID].to_str().unwrap();
    await_logs(cloud, 1, |line| line["request_id"] == id).await.remove(0)
}

/// Returns the response of this request to a function, with its log lines. Other requests must not run at the
/// same time.
pub(crate) async fn logged(cloud: &Cloud, request: impl Future<Output = Response>) -> (Response, Log) {
    let earlier = log_lines(cloud).len();
    let response = request.await;
    let line = line_of(cloud, &response).await;
    let lines = log_lines(cloud).into_iter().skip(earlier).take_while(|other| *other != line);
    let warnings = lines.filter(|line| line["request_id"].is_null()).collect();
    (response, Log { line, warnings })
}
