//! The stage cache: whether there is one, how large, which routes it keeps answers of, for how long, and what tells two
//! answers of a route apart.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{CacheKey, Route, Section, broken};
use crate::Error;

/// What API Gateway does with a cached method that names no duration, and the longest that it allows.
const DEFAULT_TTL_S: u64 = 300;
const MAX_TTL_S: u64 = 3_600;
/// The sizes that there are, as the template has them, and in tenths of a gigabyte. The first one is the default.
const SIZES: [(&str, u64); 8] = [
    ("0.5", 5),
    ("1.6", 16),
    ("6.1", 61),
    ("13.5", 135),
    ("28.4", 284),
    ("58.2", 582),
    ("118", 1_180),
    ("237", 2_370),
];
const GIGABYTE: u64 = 1024 * 1024 * 1024;

/// `CacheClusterSize` in bytes.
///
/// # Errors
/// When there is no cache of that size.
pub(super) fn read_size(api: &Section<'_>) -> Result<u64, Error> {
    let size = api.text("CacheClusterSize")?;
    let size = size.as_deref().unwrap_or("0.5");
    let known = SIZES.iter().find(|(name, _)| *name == size).map(|(_, tenths)| tenths * GIGABYTE / 10);
    known.ok_or_else(|| {
        let names = SIZES.map(|(name, _)| name).join(", ");
        broken(&api.place("CacheClusterSize"), format!("it must be one of {names}, not {size:?}"))
    })
}

/// The cache keys that an event declares.
///
/// # Errors
/// When one is misspelt: without it, one caller's answer would be everybody's.
pub(super) fn read_keys(event: &Section<'_>) -> Result<Vec<CacheKey>, Error> {
    let parameters = match event.value("RequestParameters")? {
        None => return Ok(Vec::new()),
        Some(Value::Array(parameters)) => parameters,
        Some(_) => return Err(broken(&event.place("RequestParameters"), "it must be a list")),
    };
    let mut keys = Vec::new();
    for (name, settings) in parameters.iter().filter_map(Value::as_object).flatten() {
        for setting in settings.as_object().map(Map::keys).into_iter().flatten() {
            if !matches!(setting.as_str(), "Required" | "Caching") {
                let place = event.place(&format!("RequestParameters.{name}"));
                return Err(broken(&place, format!("{setting} is neither Required nor Caching")));
            }
        }
        match settings.get("Caching") {
            Some(Value::Bool(true)) => {}
            None | Some(Value::Bool(false)) => continue,
            Some(_) => {
                let place = event.place(&format!("RequestParameters.{name}.Caching"));
                return Err(broken(&place, "it must be true or false"));
            }
        }
        keys.push(match name.split('.').collect::<Vec<_>>().as_slice() {
            ["method", "request", "path", name] => CacheKey::Path((*name).to_owned()),
            ["method", "request", "querystring", name] => CacheKey::Query((*name).to_owned()),
            ["method", "request", "header", name] => CacheKey::Header((*name).to_owned()),
            _ => {
                let reason =
                    format!("{name} must be method.request.path.NAME, .querystring.NAME or .header.NAME");
                return Err(broken(&event.place("RequestParameters"), reason));
            }
        });
    }
    Ok(keys)
}

/// Entries for all methods count where a route has none of its own, and then wholly: nothing is inherited. They switch
/// caching on for `GET` only, as on AWS.
///
/// # Errors
/// When an entry is for a route that does not exist, or for longer than there is.
pub(super) fn apply_method_settings(api: &Section<'_>, routes: &mut [Route]) -> Result<(), Error> {
    let settings = match api.value("MethodSettings")? {
        None => return Ok(()),
        Some(Value::Array(settings)) => settings,
        Some(_) => return Err(broken(&api.place("MethodSettings"), "it must be a list")),
    };
    let mut own = vec![false; routes.len()];
    for (position, setting) in settings.into_iter().enumerate() {
        let place = api.place(&format!("MethodSettings[{position}]"));
        let Value::Object(entries) = setting else {
            return Err(broken(&place, "it must be a mapping"));
        };
        let setting = Section { place, entries, scope: api.scope };
        // In a resource path, ~1 stands for a slash; the first one is written as it is.
        let path = setting.required("ResourcePath", setting.text("ResourcePath")?)?;
        let path =
            path.strip_prefix("/~1").map_or(path.clone(), |rest| format!("/{rest}")).replace("~1", "/");
        let method = setting.required("HttpMethod", setting.text("HttpMethod")?)?;
        let caching = setting.truth("CachingEnabled")?;
        let ttl_s = setting.number("CacheTtlInSeconds")?.unwrap_or(DEFAULT_TTL_S);
        if ttl_s > MAX_TTL_S {
            let reason = format!("it must be 0 to {MAX_TTL_S} seconds");
            return Err(broken(&setting.place("CacheTtlInSeconds"), reason));
        }
        let ttl = Duration::from_secs(ttl_s);
        let for_all = (path.as_str(), method.as_str()) == ("/*", "*");
        let mut found = false;
        for (route, own) in routes.iter_mut().zip(&mut own) {
            if for_all && !*own {
                route.caching = caching && route.method == "GET";
                route.cache_ttl = route.caching.then_some(ttl);
            } else if route.path == path && route.method == method {
                (route.caching, route.cache_ttl) = (caching, Some(ttl));
                (*own, found) = (true, true);
            }
        }
        if !for_all && !found {
            return Err(broken(&setting.place("ResourcePath"), format!("there is no route {method} {path}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::evaluate;
    use super::*;

    const CACHED: &str = "
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      CacheClusterEnabled: true
      CacheClusterSize: '1.6'
      MethodSettings:
        - {ResourcePath: /~1own, HttpMethod: GET, CachingEnabled: false, CacheTtlInSeconds: 5}
        - {ResourcePath: /*, HttpMethod: '*', CachingEnabled: true, CacheTtlInSeconds: 60}
  EchoFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: echo}}
    Properties:
      Events:
        Own: {Type: Api, Properties: {Path: /own, Method: GET}}
        Other: {Type: Api, Properties: {Path: /other, Method: GET}}
        Post: {Type: Api, Properties: {Path: /other, Method: POST}}
";

    #[test]
    fn an_entry_of_ones_own_counts_wholly_and_the_one_for_all_is_for_get() {
        let api = evaluate(CACHED, &[]).unwrap().api;
        assert_eq!(api.cache_bytes, 1_717_986_918);
        let settings: Vec<_> = api.routes.iter().map(|route| (route.caching, route.cache_ttl)).collect();
        let (minute, five_seconds) = (Duration::from_mins(1), Duration::from_secs(5));
        assert_eq!(settings, [(true, Some(minute)), (false, None), (false, Some(five_seconds))]);
    }

    #[test]
    fn what_there_is_not_on_aws_is_refused() {
        for (right, wrong, place) in [
            ("'1.6'", "'1.5'", "Api.Properties.CacheClusterSize"),
            ("CacheTtlInSeconds: 60", "CacheTtlInSeconds: 3601", "MethodSettings[1].CacheTtlInSeconds"),
        ] {
            let said = evaluate(&CACHED.replace(right, wrong), &[]).unwrap_err().to_string();
            assert!(said.contains(place), "{said}");
        }
    }
}
