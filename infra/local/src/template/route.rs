//! Routes: `Api` events of the functions.

use std::time::Duration;

use super::auth::Auth;
use super::cache_key::{self, CacheKey};
use super::section::Section;
use crate::error::Error;

/// One method of one path.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// In upper case. `ANY` stands for all methods for which the path has no other route.
    pub method: String,
    /// With parameters in braces, as in the template.
    pub path: String,
    /// The logical id of the function.
    pub function: String,
    pub authorizer: Option<String>,
    /// Whether the route requires a key of a usage plan.
    pub key_required: bool,
    /// Whether the stage cache, if there is one, keeps the route's responses.
    pub caching: bool,
    /// The TTL in the stage cache, if `MethodSettings` has one.
    pub cache_ttl: Option<Duration>,
    /// The parameters in the cache key.
    pub cache_keys: Vec<CacheKey>,
}

/// The routes of a function.
///
/// # Errors
/// When an event is invalid.
pub(super) fn read(logical_id: &str, function: &Section<'_>, api: &Auth) -> Result<Vec<Route>, Error> {
    let events = function.section("Events")?;
    let mut routes = Vec::new();
    for name in events.entries.keys() {
        let event = events.section(name)?;
        if event.text("Type")?.as_deref() != Some("Api") {
            continue;
        }
        let event = event.section("Properties")?;
        let path = event.required_text("Path")?;
        if !path.starts_with('/') {
            return Err(event.invalid("Path", "it must start with a slash"));
        }
        let (authorizer, key_required) = api.of_event(&event)?;
        routes.push(Route {
            method: event.required_text("Method")?.to_ascii_uppercase(),
            path,
            function: logical_id.to_owned(),
            authorizer,
            key_required,
            cache_keys: cache_key::read(&event)?,
            ..Route::default()
        });
    }
    Ok(routes)
}
