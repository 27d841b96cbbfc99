//! The resources that the storm's upstream serves.

use crate::provider::{AUCTIONS, BAZAAR};

/// The path of a resource, and the value of its query parameter, which is empty without one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) parameter: String,
}

impl Source {
    pub(super) fn of(path: &str) -> Self {
        Self::with(path, String::new())
    }

    pub(super) fn with(path: &str, parameter: String) -> Self {
        Self { path: path.to_owned(), parameter }
    }

    pub(super) fn is_bazaar(&self) -> bool {
        self.path == BAZAAR.path
    }

    /// The number of the page of auctions. `None` for other resources.
    pub(super) fn page(&self) -> Option<u32> {
        (self.path == AUCTIONS.path).then(|| self.parameter.parse().unwrap())
    }
}
