//! What was measured of a function at a size, what a million of its requests cost, and which size the rule chooses.

use serde::{Deserialize, Serialize};

use super::file;

/// List prices of Lambda on arm64 in us-east-1 (aws.amazon.com/lambda/pricing): a GB-second, and a million requests.
const GB_SECOND: f64 = 0.000_013_333_4;
const MILLION_REQUESTS: f64 = 0.20;

/// The mix of requests that the cost is for: the share of first ones, and of the others that fetch.
pub(super) const FIRST_SHARE: f64 = 0.01;
pub(super) const FETCHED_SHARE: f64 = 0.5;

/// What the runtime needs besides the process, in MB. AWS does not document it. A published figure for a small function in
/// Rust is 15 MB, of which its process has 3; this is twice the rest.
pub(super) const RUNTIME_MB: f64 = 24.0;

/// A p99 may exceed the best one by this factor, or by as much as cannot be measured reliably: Lambda itself counts started
/// milliseconds.
const TOLERANCE: f64 = 1.2;
const TOLERANCE_MS: f64 = 1.0;

/// Median and 99th percentile in milliseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Latency {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// One function at one size.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Measurement {
    pub(super) function: String,
    pub(super) memory_mb: u32,
    /// From the spawn of the process to the response to its first request.
    pub(super) first: Latency,
    /// A request for which the function asks the provider or the database, or a run of a recorder.
    pub(super) fetched: Option<Latency>,
    /// A request that is answered from memory.
    pub(super) remembered: Option<Latency>,
    /// The client's part of a TLS handshake, which precedes a fetch after a pause; none if the function connects to nothing.
    pub(super) handshake: Option<f64>,
    pub(super) peak_mb: f64,
}

impl Measurement {
    /// The latency that decides: the p99 of requests that fetch, with the handshake; of a function that never fetches, the p99
    /// of the others.
    pub(super) fn p99(&self) -> f64 {
        let latency = self.fetched.or(self.remembered).map_or(f64::INFINITY, |latency| latency.p99);
        latency + self.handshake.unwrap_or_default()
    }

    /// Whether the function fits.
    pub(super) fn is_possible(&self) -> bool {
        self.peak_mb + RUNTIME_MB <= f64::from(self.memory_mb)
    }

    /// The dollars of a million requests at the mix. Lambda bills started milliseconds.
    pub(super) fn dollars(&self) -> f64 {
        let handshake = self.handshake.unwrap_or_default();
        let first = (self.first.p50 + handshake).ceil();
        let fetched = self.fetched.map(|latency| (latency.p50 + handshake).ceil());
        let remembered = self.remembered.map(|latency| latency.p50.ceil());
        let later = match (fetched, remembered) {
            (Some(fetched), Some(remembered)) => FETCHED_SHARE * fetched + (1.0 - FETCHED_SHARE) * remembered,
            (fetched, remembered) => fetched.or(remembered).unwrap_or_default(),
        };
        let milliseconds = FIRST_SHARE * first + (1.0 - FIRST_SHARE) * later;
        let gigabytes = f64::from(self.memory_mb) / 1024.0;
        MILLION_REQUESTS + 1_000_000.0 * milliseconds / 1_000.0 * gigabytes * GB_SECOND
    }
}

/// The cheapest of the possible sizes whose p99 exceeds the best by no more than the tolerance.
pub(super) fn chosen(sizes: &[Measurement]) -> Option<&Measurement> {
    let possible = || sizes.iter().filter(|size| size.is_possible());
    let best = possible().map(Measurement::p99).min_by(f64::total_cmp)?;
    let bound = (TOLERANCE * best).max(best + TOLERANCE_MS);
    let good = possible().filter(|size| size.p99() <= bound);
    good.min_by(|a, b| a.dollars().total_cmp(&b.dollars()))
}

/// The possible sizes that are not both slower and more expensive than another one.
pub(super) fn frontier(sizes: &[Measurement]) -> Vec<u32> {
    let possible = || sizes.iter().filter(|size| size.is_possible());
    let is_beaten = |size: &&Measurement| {
        possible().any(|other| other.p99() < size.p99() && other.dollars() < size.dollars())
    };
    possible().filter(|size| !is_beaten(size)).map(|size| size.memory_mb).collect()
}

/// The measurements that were written.
///
/// # Errors
/// A sentence, when the file cannot be read or is not as expected.
pub(super) fn read() -> Result<Vec<Measurement>, String> {
    let text = std::fs::read_to_string(file());
    let text = text.map_err(|error| format!("cannot read {}: {error}", file().display()))?;
    text.lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("{} is not as expected: {error}", file().display()))
}

/// Writes the measurements, one a line, and returns all that are written now: earlier ones of other functions stay.
///
/// # Errors
/// A sentence, when the file cannot be written.
pub(super) fn write(measured: Vec<Measurement>) -> Result<Vec<Measurement>, String> {
    // Without the file, these are the first.
    let mut all = read().unwrap_or_default();
    all.retain(|old| measured.iter().all(|new| new.function != old.function));
    all.extend(measured);
    all.sort_by(|a, b| (&a.function, a.memory_mb).cmp(&(&b.function, b.memory_mb)));
    let mut text = String::new();
    for measurement in &all {
        let line = serde_json::to_string(measurement).map_err(|error| error.to_string())?;
        text.push_str(&line);
        text.push('\n');
    }
    std::fs::write(file(), text).map_err(|error| format!("cannot write {}: {error}", file().display()))?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::table::summary;
    use crate::memory::template;
    use crate::workspace;

    #[test]
    fn the_template_has_the_sizes_that_the_rule_chooses() {
        let measured = read().unwrap();
        let chosen = measured.chunk_by(|a, b| a.function == b.function).map(|sizes| {
            let chosen = chosen(sizes).unwrap();
            (chosen.function.clone(), chosen.memory_mb)
        });
        assert_eq!(chosen.collect::<std::collections::BTreeMap<_, _>>(), template::sizes().unwrap());
    }

    #[test]
    fn the_page_of_operators_has_the_table_of_the_measurements() {
        let page = std::fs::read_to_string(workspace().join("infra/README.md")).unwrap();
        assert!(page.contains(&summary(&read().unwrap()).unwrap()), "run cargo speed memory --write");
    }

    #[test]
    fn a_size_that_another_one_beats_is_not_on_the_frontier() {
        let sizes = [size(128, 10.0, 20.0), size(256, 20.0, 20.0), size(512, 5.0, 20.0)];
        assert_eq!(frontier(&sizes), [128, 512]);
    }

    fn size(memory_mb: u32, p99: f64, peak_mb: f64) -> Measurement {
        let latency = |p99: f64| Latency { p50: p99, p99 };
        Measurement {
            function: "a".to_owned(),
            memory_mb,
            first: latency(p99),
            fetched: Some(latency(p99)),
            remembered: Some(latency(0.5)),
            handshake: None,
            peak_mb,
        }
    }

    #[test]
    fn the_cheapest_size_near_the_best_is_chosen() {
        let sizes = [size(128, 13.0, 20.0), size(256, 11.9, 20.0), size(512, 10.0, 20.0)];
        assert_eq!(chosen(&sizes).unwrap().memory_mb, 256);
        let quick = [size(128, 2.5, 20.0), size(256, 1.9, 20.0), size(512, 1.0, 20.0)];
        assert_eq!(chosen(&quick).unwrap().memory_mb, 256);
    }

    #[test]
    fn a_size_that_is_too_small_for_the_process_is_out() {
        let sizes = [size(128, 10.0, 110.0), size(256, 10.0, 110.0)];
        assert_eq!(chosen(&sizes).unwrap().memory_mb, 256);
        assert!(chosen(&[size(128, 10.0, 110.0)]).is_none());
    }

    #[test]
    fn a_started_millisecond_counts() {
        // 1 % of 10 ms, and of the rest half 10 ms and half 1 ms, in an eighth of a GB.
        let expected = 0.20 + (0.1 + 0.99 * 5.5) * 1_000.0 * 0.125 * GB_SECOND;
        assert!((size(128, 9.5, 20.0).dollars() - expected).abs() < 1e-9);
    }
}
