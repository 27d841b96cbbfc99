//! Order statistics.

use std::cmp::Ordering;
use std::time::Duration;

/// Sorts the values and returns the middle one.
pub(crate) fn median<T: Copy>(values: &mut [T], order: impl Fn(&T, &T) -> Ordering) -> Option<T> {
    values.sort_by(order);
    values.get(values.len() / 2).copied()
}

/// The value of sorted `values` that this share of them does not exceed.
pub(crate) fn percentile<T: Copy>(values: &[T], share: f64) -> Option<T> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are few values, and the share is positive"
    )]
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
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

    #[test]
    fn a_percentile_is_a_value_that_its_share_does_not_exceed() {
        let values: Vec<_> = (1..=200).collect();
        assert_eq!(percentile(&values, 0.99), Some(198));
        assert_eq!(percentile(&values, 0.5), Some(100));
        assert_eq!(percentile(&[7], 0.99), Some(7));
        assert_eq!(percentile::<i32>(&[], 0.5), None);
    }
}
