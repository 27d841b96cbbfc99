//! The one table of routes. `GET /`, the caches' durations, the tests of the template and the documents all read it.
//! Durations and parameters are those of `interface.md`, parts 4 and 8.

use std::time::Duration;

/// Where a parameter stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In the path, as `{name}`.
    Path,
    /// In the query string.
    Query,
}

impl Location {
    /// The word for it in an API description.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
        }
    }
}

/// A parameter that a route reads. It is part of the route's cache key.
#[derive(Debug)]
pub struct Parameter {
    /// The name, as callers write it.
    pub name: &'static str,
    /// Where it stands.
    pub location: Location,
    /// Whether a request without it is refused. (`id` of the bazaar is required in one mode only, so it is `false`.)
    pub required: bool,
    /// What it means, what is allowed and what counts when it is absent: one sentence.
    pub description: &'static str,
}

/// One route of the service.
#[derive(Debug)]
pub struct Route {
    /// The name of the function that answers: its crate, its binary, its folder.
    pub function: &'static str,
    /// The path, parameters in braces.
    pub path: &'static str,
    /// How long an answer may be served again. Zero: never.
    pub cache: Duration,
    /// What comes back, in one line.
    pub summary: &'static str,
    /// Every parameter that the function reads.
    pub parameters: &'static [Parameter],
}

impl Route {
    /// The parameter `name`, if the route reads it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// `GET /v1/mayor`
pub const MAYOR: Route = Route {
    function: "mayor",
    path: "/v1/mayor",
    cache: Duration::from_mins(5),
    summary: "The sitting mayor, the open election, and the election that the mayor won",
    parameters: &[],
};

/// `GET /v1/mayor/history`
pub const MAYOR_HISTORY: Route = Route {
    function: "mayor-history",
    path: "/v1/mayor/history",
    cache: Duration::from_mins(5),
    summary: "The mayors whose terms have ended, newest first",
    parameters: &[Parameter {
        name: "limit",
        location: Location::Query,
        required: false,
        description: "How many mayors at the most: 1 to 100; 24 if absent",
    }],
};

/// `GET /v1/fire-sales`
pub const FIRE_SALES: Route = Route {
    function: "fire-sales",
    path: "/v1/fire-sales",
    cache: Duration::from_mins(1),
    summary: "The fire sales that run or are announced",
    parameters: &[],
};

/// `GET /v1/fire-sales/history`
pub const FIRE_SALES_HISTORY: Route = Route {
    function: "fire-sales-history",
    path: "/v1/fire-sales/history",
    cache: Duration::from_mins(5),
    summary: "The fire sales that were recorded, newest first",
    parameters: &[Parameter {
        name: "limit",
        location: Location::Query,
        required: false,
        description: "How many sales at the most: 1 to 200; 50 if absent",
    }],
};

/// `GET /v1/bazaar`
pub const BAZAAR: Route = Route {
    function: "bazaar",
    path: "/v1/bazaar",
    cache: Duration::from_secs(5),
    summary: "The bazaar: all products raw, the active ids, one product with its spread, or the best flips",
    parameters: &[
        Parameter {
            name: "mode",
            location: Location::Query,
            required: false,
            description: "What to answer: full, list, item or flips; full if absent",
        },
        Parameter {
            name: "id",
            location: Location::Query,
            required: false,
            description: "The id of a bazaar product, as mode=list gives it; required with mode=item",
        },
        Parameter {
            name: "limit",
            location: Location::Query,
            required: false,
            description: "How many flips at the most, with mode=flips: 1 to 100; 20 if absent",
        },
    ],
};

/// `GET /v1/bazaar/history`
pub const BAZAAR_HISTORY: Route = Route {
    function: "bazaar-history",
    path: "/v1/bazaar/history",
    cache: Duration::from_mins(5),
    summary: "What a product of the bazaar cost over a range of time, oldest first",
    parameters: &[
        Parameter {
            name: "item_id",
            location: Location::Query,
            required: true,
            description: "The id of a bazaar product, as mode=list of /v1/bazaar gives it",
        },
        Parameter {
            name: "range",
            location: Location::Query,
            required: false,
            description: "How far back: 1h, 24h, 7d, 30d or 90d; 24h if absent",
        },
    ],
};

/// `GET /v1/auctions`
pub const AUCTIONS: Route = Route {
    function: "auctions",
    path: "/v1/auctions",
    cache: Duration::from_secs(30),
    summary: "One page of the running auctions",
    parameters: &[Parameter {
        name: "page",
        location: Location::Query,
        required: false,
        description: "The page, counted from 0; 0 if absent",
    }],
};

/// `GET /v1/collections`
pub const COLLECTIONS: Route = Route {
    function: "collections",
    path: "/v1/collections",
    cache: Duration::from_hours(1),
    summary: "All collections by category, with their tiers and what each unlocks",
    parameters: &[],
};

/// `GET /v1/items`
pub const ITEMS: Route = Route {
    function: "items",
    path: "/v1/items",
    cache: Duration::from_hours(1),
    summary: "The complete item catalogue",
    parameters: &[],
};

/// `GET /v1/profile/{username}`
pub const PROFILE: Route = Route {
    function: "profile",
    path: "/v1/profile/{username}",
    cache: Duration::from_mins(15),
    summary: "A player and all of their profiles",
    parameters: &[Parameter {
        name: "username",
        location: Location::Path,
        required: true,
        description: "The player's name: 1 to 16 letters, digits and underscores, in any case",
    }],
};

/// `GET /` and whatever no other route matches.
pub const INDEX: Route = Route {
    function: "index",
    path: "/",
    cache: Duration::ZERO,
    summary: "The available endpoints",
    parameters: &[],
};

/// `GET /openapi.json`, which the index answers, too. It is not one of the endpoints that `GET /` lists.
pub const OPENAPI: Route = Route {
    function: INDEX.function,
    path: "/openapi.json",
    cache: Duration::ZERO,
    summary: "The description of this service in the format OpenAPI 3.1",
    parameters: &[],
};

/// The routes under `/v1`, in the order in which `GET /` lists them.
pub const VERSION_1: [&Route; 10] = [
    &MAYOR,
    &MAYOR_HISTORY,
    &FIRE_SALES,
    &FIRE_SALES_HISTORY,
    &BAZAAR,
    &BAZAAR_HISTORY,
    &AUCTIONS,
    &COLLECTIONS,
    &ITEMS,
    &PROFILE,
];
