//! The memory that a cached value takes.

use std::sync::Arc;

/// A value with a known size in memory.
pub trait Weight {
    /// Returns the approximate size of the value in bytes. It includes at least the parts that grow with the
    /// input.
    fn bytes(&self) -> usize;

    /// Whether the value may be served after it has expired, if a refresh fails. A `None` may not, because
    /// the missing value may exist by now.
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
