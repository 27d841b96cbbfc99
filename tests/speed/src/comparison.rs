//! Compares a function with its floor: the smallest function of the same kind, which `tests/fixtures/hello`
//! contains.

use std::io::Write as _;
use std::time::Duration;

/// The times of a function and its floor, and the ratio of the times. All three are medians over pairs. The
/// two times of a pair are measured directly after each other, so a change in the machine's load affects
/// both.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) own_ms: f64,
    pub(crate) floor_ms: f64,
    pub(crate) ratio: f64,
}

impl Comparison {
    /// Compares pairs of a function's time and its floor's time.
    pub(crate) fn new(pairs: &[(Duration, Duration)]) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
        Self {
            own_ms: median(pairs.iter().map(|(own, _)| milliseconds(*own))),
            floor_ms: median(pairs.iter().map(|(_, floor)| milliseconds(*floor))),
            ratio: median(pairs.iter().map(|(own, floor)| own.as_secs_f64() / floor.as_secs_f64())),
        }
    }

    /// Whether the ratio exceeds the limit, both rounded to the two decimal places of the table.
    pub(crate) fn exceeds(&self, limit: f64) -> bool {
        (self.ratio * 100.0).round() > (limit * 100.0).round()
    }
}

/// The median. Infinity without values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<_> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Prints a table of comparisons. Ignores a closed standard output.
pub(crate) fn print(table: &str) {
    let _ = writeln!(std::io::stdout(), "{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_pairs_and_compared_as_it_is_shown() {
        let time = Duration::from_micros;
        let pairs = [(time(110), time(100)), (time(500), time(100)), (time(222), time(200))];
        let comparison = Comparison::new(&pairs);
        assert_eq!(format!("{:.3} {:.3}", comparison.own_ms, comparison.floor_ms), "0.222 0.100");
        assert_eq!(format!("{:.2}", comparison.ratio), "1.11");
        assert!(comparison.exceeds(1.1) && !comparison.exceeds(1.108));
    }
}
