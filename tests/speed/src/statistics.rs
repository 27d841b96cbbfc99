//! Order statistics.

use std::cmp::Ordering;
use std::time::Duration;

/// Sorts the values and returns the middle one.
pub(crate) fn median<T: Copy>(values: &mut [T], order: impl Fn(&T, &T) -> Ordering) -> Option<T> {
    values.sort_by(order);
    values.get(values.len() / 2).copied()
}

/// The time in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value() {
        assert_eq!(median(&mut [3, 1, 2], i32::cmp), Some(2));
        assert_eq!(median(&mut [], i32::cmp), None);
    }
}
