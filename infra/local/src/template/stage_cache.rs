//! The stage cache: which routes are cached, and for how long.

use std::time::Duration;

use super::route::Route;
use super::section::Section;
use crate::error::Error;

/// API Gateway's default and limit for a TTL.
const DEFAULT_TTL_S: u64 = 300;
const MAX_TTL_S: u64 = 3_600;

/// Returns the path of an entry of `MethodSettings`.
///
/// # Errors
/// When it is missing.
pub(super) fn path(setting: &Section<'_>) -> Result<String, Error> {
    // Slashes except the first are written as ~1.
    Ok(setting.required_text("ResourcePath")?.replacen("/~1", "/", 1).replace("~1", "/"))
}

/// Applies `MethodSettings`. The settings for all methods apply to routes without separate settings, and
/// enable caching for `GET` only, as on AWS.
///
/// # Errors
/// When an entry is for a route that does not exist, or its TTL is too long.
pub(super) fn apply_method_settings(settings: &[Section<'_>], routes: &mut [Route]) -> Result<(), Error> {
    let mut has_own = vec![false; routes.len()];
    for setting in settings {
        let path = path(setting)?;
        let method = setting.required_text("HttpMethod")?;
        let caching = setting.boolean("CachingEnabled")?.unwrap_or_default();
        let stated_ttl_s = setting.number("CacheTtlInSeconds")?;
        let ttl_s = stated_ttl_s.unwrap_or(DEFAULT_TTL_S);
        if ttl_s > MAX_TTL_S {
            return Err(setting.invalid("CacheTtlInSeconds", format!("it must be 0 to {MAX_TTL_S} seconds")));
        }
        let ttl = Duration::from_secs(ttl_s);
        let is_for_all = (path.as_str(), method.as_str()) == ("/*", "*");
        let mut found = is_for_all;
        for (route, has_own) in routes.iter_mut().zip(&mut has_own) {
            if is_for_all && !*has_own {
                route.caching = caching && route.method == "GET";
                route.cache_ttl = route.caching.then_some(ttl);
            } else if route.path == path && route.method == method {
                // While the cache is off, a route keeps the TTL that the template states. A route that is
                // never cached has none.
                route.caching = caching;
                route.cache_ttl = (caching || stated_ttl_s.is_some()).then_some(ttl);
                (*has_own, found) = (true, true);
            }
        }
        if !found {
            return Err(setting.invalid("ResourcePath", format!("there is no route {method} {path}")));
        }
    }
    Ok(())
}
