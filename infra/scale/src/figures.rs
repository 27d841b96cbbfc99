//! Figures: conversion and formatting.

use markdown::grouped;

/// The count as a figure.
pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// The figure, rounded up.
pub(crate) fn whole(figure: f64) -> u32 {
    (0..32)
        .rev()
        .map(|bit| 1_u32 << bit)
        .fold(0, |sum, bit| if f64::from(sum | bit) < figure + 1.0 { sum | bit } else { sum })
}

/// The share in percent.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "< 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

/// The figure with two digits, or all before the point.
pub(crate) fn digits(figure: f64) -> String {
    let decimals = if figure >= 10.0 {
        0
    } else if figure >= 1.0 {
        1
    } else {
        2
    };
    grouped(figure, decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_up() {
        assert_eq!([0.0, 1.0, 1.5, 10_000.0].map(whole), [0, 1, 2, 10_000]);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!([0.123, 1.23, 12.3, 1_234.0].map(digits), ["0.12", "1.2", "12", "1,234"]);
        assert_eq!([0.0, 0.0001, 0.123].map(percent), ["0.0 %", "< 0.1 %", "12.3 %"]);
    }
}
