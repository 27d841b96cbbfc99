//! Resources without parameters: the path alone identifies such a resource.

use std::hash::{Hash, Hasher};

use crate::RESOURCES;

/// A resource without parameters.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    pub path: &'static str,
    /// The content of the simulated body, for `README.md`.
    pub summary: &'static str,
    /// The time between two refreshes, in milliseconds.
    pub refresh_ms: i64,
    /// The field of the body that holds the content. It is always present.
    pub content: &'static str,
    /// Returns the time of the refresh that is visible at a given time, both in Unix milliseconds.
    pub refreshed_at: fn(i64) -> i64,
    /// Returns the body for a seed at a time in Unix milliseconds.
    pub body: fn(u64, i64) -> String,
}

impl Resource {
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        RESOURCES.into_iter().find(|resource| resource.path == path)
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Resource {}

impl Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}
