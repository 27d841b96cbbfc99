//! Figures: conversion.

#[expect(clippy::cast_precision_loss, reason = "rows, bytes and requests fit into 53 bits")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}
