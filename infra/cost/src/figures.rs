//! Figures: conversion and formatting.

/// The figure with this many decimals and thousands separators.
pub(crate) fn grouped(figure: f64, decimals: usize) -> String {
    let figure = format!("{figure:.decimals$}");
    let (whole, rest) = figure.split_at(figure.find('.').unwrap_or(figure.len()));
    let mut grouped = String::new();
    for (number, digit) in whole.chars().enumerate() {
        if number > 0 && (whole.len() - number).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[expect(clippy::cast_precision_loss, reason = "rows, bytes and requests fit into 53 bits")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (figure, decimals, text) in
            [(0.0, 0, "0"), (999.96, 1, "1,000.0"), (1_234_567.0, 0, "1,234,567"), (12.345, 2, "12.35")]
        {
            assert_eq!(grouped(figure, decimals), text);
        }
    }
}
