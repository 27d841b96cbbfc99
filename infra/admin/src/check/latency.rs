//! How long responses take, by request.

use std::time::Duration;

use serde::Serialize;

/// The latencies of all examples, in the order of their first requests.
#[derive(Debug, Default)]
pub(super) struct Latency {
    requests: Vec<Times>,
}

#[derive(Debug)]
struct Times {
    request: String,
    first: Vec<Duration>,
    repeated: Vec<Duration>,
}

/// The latencies of one request.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    request: String,
    /// The first request of this run. Other clients may have sent it before.
    first: Figures,
    /// Requests within the TTL of the route, which a cache can answer.
    repeated: Figures,
}

/// A summary of latencies.
#[derive(Debug, Serialize)]
struct Figures {
    n: usize,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    max_ms: Option<f64>,
}

impl Latency {
    /// Adds the latency of a first request.
    pub(super) fn first(&mut self, request: &str, time: Duration) {
        self.requests.push(Times { request: request.to_owned(), first: vec![time], repeated: Vec::new() });
    }

    /// Adds the latency of a repeated request.
    pub(super) fn repeated(&mut self, request: &str, time: Duration) {
        if let Some(times) = self.requests.iter_mut().find(|times| times.request == request) {
            times.repeated.push(time);
        }
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        let row = |times: Times| Row {
            request: times.request,
            first: Figures::of(times.first),
            repeated: Figures::of(times.repeated),
        };
        self.requests.into_iter().map(row).collect()
    }
}

impl Row {
    pub(super) fn cells(&self) -> [String; 6] {
        let text = |time: Option<f64>| time.map_or_else(|| "–".to_owned(), |time| format!("{time:.1}"));
        let repeated = &self.repeated;
        [
            self.request.clone(),
            text(self.first.max_ms),
            repeated.n.to_string(),
            text(repeated.p50_ms),
            text(repeated.p90_ms),
            text(repeated.max_ms),
        ]
    }
}

impl Figures {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let n = times.len();
        // The smallest latency that is not exceeded by this percentage of all.
        let percentile = |percent: usize| {
            times.get((n * percent).div_ceil(100).saturating_sub(1)).map(|&time| milliseconds(time))
        };
        Self { n, p50_ms: percentile(50), p90_ms: percentile(90), max_ms: percentile(100) }
    }
}

/// The time in milliseconds, rounded to a tenth.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

/// The median of the times; of an even number, the lower one of the two in the middle.
pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_latencies() {
        let times = |count: u64| (1..=count).rev().map(Duration::from_millis).collect::<Vec<_>>();
        let figures = |count| {
            let figures = Figures::of(times(count));
            (figures.n, figures.p50_ms, figures.p90_ms, figures.max_ms)
        };
        assert_eq!(figures(0), (0, None, None, None));
        assert_eq!(figures(1), (1, Some(1.0), Some(1.0), Some(1.0)));
        assert_eq!(figures(2), (2, Some(1.0), Some(2.0), Some(2.0)));
        assert_eq!(figures(10), (10, Some(5.0), Some(9.0), Some(10.0)));
        assert_eq!(median(times(5)), Duration::from_millis(3));
    }
}
