//! How much memory a cached value takes.

use std::sync::Arc;

/// A value that knows how much memory it takes.
pub trait Weight {
    /// About how many bytes it takes; at least what grows with the input.
    fn bytes(&self) -> usize;
}

impl<T: Weight> Weight for Arc<T> {
    fn bytes(&self) -> usize {
        self.as_ref().bytes()
    }
}

impl<T: Weight> Weight for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Weight::bytes)
    }
}
