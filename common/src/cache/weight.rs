//! How much memory a cached value takes.

use std::sync::Arc;

/// A value that knows how much memory it takes.
pub trait Weight {
    /// About how many bytes it takes; at least what grows with the input.
    fn bytes(&self) -> usize;

    /// Whether it may be served after it has expired, if a refresh fails. That there is no value may not: by now there may be one.
    fn may_be_stale(&self) -> bool {
        true
    }
}

impl<T: Weight> Weight for Arc<T> {
    fn bytes(&self) -> usize {
        self.as_ref().bytes()
    }

    fn may_be_stale(&self) -> bool {
        self.as_ref().may_be_stale()
    }
}

impl<T: Weight> Weight for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Weight::bytes)
    }

    fn may_be_stale(&self) -> bool {
        self.as_ref().is_some_and(Weight::may_be_stale)
    }
}
