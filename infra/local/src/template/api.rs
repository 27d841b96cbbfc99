//! The API: its stage, routes and settings.

use std::collections::{BTreeMap, BTreeSet};

use super::auth::{self, Authorizer};
use super::gateway_response::{self, GatewayResponse};
use super::route::{EventAuth, Route};
use super::section::{Section, invalid};
use super::stage_cache;
use crate::error::Error;

pub(super) const TYPE: &str = "AWS::Serverless::Api";

/// The `AWS::Serverless::Api`.
#[derive(Debug, Clone)]
pub struct Api {
    /// `StageName`.
    pub stage: String,
    /// `CacheClusterEnabled`: whether the stage has a cache.
    pub cache_enabled: bool,
    /// `MinimumCompressionSize` in bytes, if responses are compressed.
    pub minimum_compression_size: Option<u64>,
    /// The routes by path, `ANY` after the other methods of a path.
    pub routes: Vec<Route>,
    /// `Auth.Authorizers`, by name.
    pub authorizers: BTreeMap<String, Authorizer>,
    /// `GatewayResponses`, by response type.
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

pub(super) fn read(section: &Section<'_>, routes: &mut [(Route, EventAuth)]) -> Result<Api, Error> {
    let mut seen = BTreeSet::new();
    for (route, _) in routes.iter() {
        if !seen.insert((&route.method, &route.path)) {
            let reason = format!("another function also has the route {} {}", route.method, route.path);
            return Err(invalid(&format!("{}.Properties.Events", route.function), reason));
        }
    }
    if section.entries.contains_key("Cors") {
        return Err(section.invalid("Cors", "the local cloud supports only routes with the method OPTIONS"));
    }
    let authorizers = auth::apply(section, routes)?;
    let mut routes: Vec<_> = routes.iter().map(|(route, _)| route.clone()).collect();
    routes.sort_by_cached_key(|route| (route.path.clone(), route.method == "ANY", route.method.clone()));
    stage_cache::apply_method_settings(section, &mut routes)?;
    Ok(Api {
        stage: section.required("StageName", section.text("StageName")?)?,
        cache_enabled: section.boolean("CacheClusterEnabled")?.unwrap_or_default(),
        minimum_compression_size: section.number("MinimumCompressionSize")?,
        routes,
        authorizers,
        gateway_responses: gateway_response::read(section)?,
    })
}
