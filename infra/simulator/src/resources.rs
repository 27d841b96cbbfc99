//! The resources that a path alone names, without parameters.

use std::hash::{Hash, Hasher};

use crate::auctions::ended;
use crate::{bazaar, collections, election, fire_sales, items};

/// A resource without parameters.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// The provider's path.
    pub path: &'static str,
    /// The field of the body that is always there and holds the content.
    pub content: &'static str,
    /// Returns the refresh that shows at a time, both in Unix milliseconds.
    pub refreshed_at: fn(i64) -> i64,
    /// Returns the body for a seed at a time in Unix milliseconds.
    pub body: fn(u64, i64) -> String,
}

/// Each resource without parameters.
pub const RESOURCES: [Resource; 6] = [
    Resource {
        path: "/v2/skyblock/auctions_ended",
        content: "auctions",
        refreshed_at: ended::refreshed_at,
        body: ended::body,
    },
    Resource {
        path: "/v2/skyblock/bazaar",
        content: "products",
        refreshed_at: bazaar::refreshed_at,
        body: bazaar::body,
    },
    Resource {
        path: "/v2/skyblock/firesales",
        content: "sales",
        refreshed_at: fire_sales::refreshed_at,
        body: fire_sales::body,
    },
    Resource {
        path: "/v2/resources/skyblock/collections",
        content: "collections",
        refreshed_at: collections::refreshed_at,
        body: collections::body,
    },
    Resource {
        path: "/v2/resources/skyblock/election",
        content: "mayor",
        refreshed_at: election::refreshed_at,
        body: election::body,
    },
    Resource {
        path: "/v2/resources/skyblock/items",
        content: "items",
        refreshed_at: items::refreshed_at,
        body: items::body,
    },
];

impl Resource {
    /// Returns the resource at `path`.
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
