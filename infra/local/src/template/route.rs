//! Routes: `Api` events of the functions.

use std::time::Duration;

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
    /// The name of the authorizer.
    pub authorizer: Option<String>,
    /// Whether it requires a key of a usage plan.
    pub key_required: bool,
    /// Whether the stage cache, if there is one, keeps its responses.
    pub caching: bool,
    /// The TTL in the stage cache, if `MethodSettings` has one.
    pub cache_ttl: Option<Duration>,
    /// The parameters in the cache key.
    pub cache_keys: Vec<CacheKey>,
}

/// `Auth` of an event.
pub(super) struct EventAuth {
    pub(super) place: String,
    pub(super) authorizer: Option<String>,
    pub(super) key_required: Option<bool>,
}

/// The routes of a function.
///
/// # Errors
/// When an event is invalid.
pub(super) fn read(logical_id: &str, function: &Section<'_>) -> Result<Vec<(Route, EventAuth)>, Error> {
    let events = function.section("Events")?;
    let mut routes = Vec::new();
    for name in events.entries.keys() {
        let event = events.section(name)?;
        if event.text("Type")?.as_deref() != Some("Api") {
            continue;
        }
        let event = event.section("Properties")?;
        let path = event.required("Path", event.text("Path")?)?;
        if !path.starts_with('/') {
            return Err(event.invalid("Path", "it must start with a slash"));
        }
        let route = Route {
            method: event.required("Method", event.text("Method")?)?.to_ascii_uppercase(),
            path,
            function: logical_id.to_owned(),
            cache_keys: cache_key::read(&event)?,
            ..Route::default()
        };
        routes.push((route, read_auth(&event)?));
    }
    Ok(routes)
}

fn read_auth(event: &Section<'_>) -> Result<EventAuth, Error> {
    let auth = event.section("Auth")?;
    auth.only(&["Authorizer", "ApiKeyRequired"])?;
    Ok(EventAuth {
        authorizer: auth.text("Authorizer")?,
        key_required: auth.boolean("ApiKeyRequired")?,
        place: auth.place,
    })
}
