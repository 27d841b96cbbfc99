//! The types of the table of routes.

use std::time::Duration;

use super::parameters::Allowed;

/// Where a parameter is in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In the path, as `{name}`.
    Path,
    /// In the query string.
    Query,
}

impl Location {
    /// The name of the location in an OpenAPI document.
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
    pub name: &'static str,
    pub location: Location,
    /// Whether every request needs it. `false` for a parameter that only some modes of the route require,
    /// such as `id` of the bazaar.
    pub required: bool,
    /// The meaning of the parameter, as the beginning of a sentence that ends with the allowed values.
    pub meaning: &'static str,
    /// The values that it may have.
    pub allowed: Allowed,
}

impl Parameter {
    pub(crate) const fn query(name: &'static str, meaning: &'static str, allowed: Allowed) -> Self {
        Self { name, location: Location::Query, required: false, meaning, allowed }
    }

    /// Returns the meaning, the allowed values and the default, in one sentence without a full stop.
    #[must_use]
    pub fn description(&self) -> String {
        let Self { meaning, allowed, .. } = self;
        match allowed {
            Allowed::WholeNumber { min, max, default } => {
                format!("{meaning}: {min} to {max}; {default} if absent")
            }
            Allowed::OneOf { words, default } => {
                let (last, others) = words.split_last().unwrap_or((default, &[]));
                format!("{meaning}: {} or {last}; {default} if absent", others.join(", "))
            }
            Allowed::Characters { .. }
            | Allowed::List { .. }
            | Allowed::Flag
            | Allowed::Pattern { .. }
            | Allowed::Time { default: None } => {
                format!("{meaning}: {allowed}")
            }
            Allowed::AnyText => (*meaning).to_owned(),
            Allowed::Time { default: Some(default) } => format!("{meaning}: {allowed}; {default} if absent"),
        }
    }
}

/// A group of operations in the OpenAPI document.
#[derive(Debug, PartialEq, Eq)]
pub struct Tag {
    pub name: &'static str,
    /// The topic of the group, as Markdown.
    pub description: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    Nothing,
    /// The resource of the provider at this path, whose content passes through byte for byte.
    Passed(&'static str),
    /// These paths of the provider, in the order in which they are requested, with path parameters in braces.
    Provider(&'static [&'static str]),
    History,
    /// The running auctions, in the bucket of `record-auctions`.
    Listings,
    /// The caller's account in the table `Access`, and its requests, which API Gateway counts. Each account
    /// has its own response, so `X-API-Key` is part of the cache key.
    Account,
}

impl Reads {
    /// Returns the provider's paths.
    #[must_use]
    pub const fn paths(&self) -> &[&'static str] {
        match self {
            Self::Passed(path) => std::slice::from_ref(path),
            Self::Provider(paths) => paths,
            Self::Nothing | Self::History | Self::Listings | Self::Account => &[],
        }
    }
}

/// What happens to a response after its TTL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It may be served for a while if refreshes fail.
    Stale,
    /// It is never served again.
    Gone,
    /// It never changes, so clients may keep it.
    Never,
}

#[derive(Debug)]
pub struct Route {
    /// The name of the function that handles the route. The function's crate, binary and folder have the same
    /// name.
    pub function: &'static str,
    /// The path, with parameters in braces.
    pub path: &'static str,
    /// The TTL of a response; zero if it is never cached.
    pub cache: Duration,
    /// What happens to a response after its TTL.
    pub expiry: Expiry,
    /// The sources that the function reads.
    pub reads: Reads,
    pub requires_key: bool,
    /// Whether it answers `HEAD`, which monitors and link checkers send, with the status and the headers of
    /// `GET`.
    pub answers_head: bool,
    /// The title: at most 50 characters.
    pub summary: &'static str,
    /// The content of the response, in full sentences.
    pub description: &'static str,
    /// The group that it belongs to.
    pub tag: &'static Tag,
    /// Every parameter that the function reads.
    pub parameters: &'static [Parameter],
}

impl Route {
    /// Returns the parameter `name`, if the route reads it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Returns the header `Cache-Control` of successful responses. Responses are private: most of them
    /// require a key, which a shared cache between client and service would not check.
    #[must_use]
    pub const fn cache_control(&self) -> &'static str {
        match self.expiry {
            Expiry::Stale | Expiry::Gone => "private",
            Expiry::Never => "private, max-age=86400, immutable",
        }
    }
}
