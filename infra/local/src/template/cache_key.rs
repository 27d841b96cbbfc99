//! The parameters that distinguish cached responses of a route.

use hyper::header::HeaderName;

use super::section::Section;
use crate::error::Error;

/// A request parameter that is part of the cache key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKey {
    Path(String),
    Query(String),
    /// In lower case.
    Header(String),
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
                ["method", "request", "header", header] => {
                    let valid: HeaderName =
                        header.parse().map_err(|_| parameters.invalid(name, "the header must have a valid name"))?;
                    CacheKey::Header(valid.as_str().to_owned())
                }
                _ => {
                    let reason = "the name must be method.request.path.NAME, method.request.querystring.NAME or \
                                  method.request.header.NAME";
                    return Err(parameters.invalid(name, reason));
                }
            });
        }
    }
    Ok(keys)
}
