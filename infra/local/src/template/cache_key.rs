//! The parameters that distinguish cached responses of a route.

use super::section::Section;
use crate::error::Error;

/// A request parameter that is part of the cache key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKey {
    Path(String),
    Query(String),
}

/// The cache keys of an event.
///
/// # Errors
/// When a key is misspelt: without the key, different requests would share a response.
pub(super) fn read(event: &Section<'_>) -> Result<Vec<CacheKey>, Error> {
    let mut keys = Vec::new();
    for parameters in event.sections("RequestParameters")? {
        for name in parameters.entries.keys() {
            let settings = parameters.section(name)?;
            settings.only(&["Caching", "Required"])?;
            if settings.boolean("Caching")? != Some(true) {
                continue;
            }
            keys.push(match name.split('.').collect::<Vec<_>>().as_slice() {
                ["method", "request", "path", name] => CacheKey::Path((*name).to_owned()),
                ["method", "request", "querystring", name] => CacheKey::Query((*name).to_owned()),
                _ => {
                    let reason =
                        "the name must be method.request.path.NAME or method.request.querystring.NAME";
                    return Err(parameters.invalid(name, reason));
                }
            });
        }
    }
    Ok(keys)
}
