//! The API: its stage, routes and settings.

use std::collections::{BTreeMap, BTreeSet};

use super::auth::{Auth, Authorizer};
use super::gateway_response::{self, GatewayResponse};
use super::route::Route;
use super::section::Section;
use super::usage_plan::Throttle;
use super::{stage_cache, usage_plan};
use crate::error::Error;

pub(super) const TYPE: &str = "AWS::Serverless::Api";

/// The `AWS::Serverless::Api`.
#[derive(Debug, Clone)]
pub struct Api {
    pub stage: String,
    /// `CacheClusterEnabled`: whether the stage has a cache.
    pub cache_enabled: bool,
    /// `MinimumCompressionSize` in bytes, if responses are compressed.
    pub minimum_compression_size: Option<u64>,
    /// The routes by path, `ANY` after the other methods of a path.
    pub routes: Vec<Route>,
    /// The rate limits for all clients together in `MethodSettings`, by method and path. Those of `*` and
    /// `/*` are for all other methods.
    pub throttles: BTreeMap<(String, String), Throttle>,
    /// `Auth.Authorizers`, by name.
    pub authorizers: BTreeMap<String, Authorizer>,
    /// `GatewayResponses`, by response type.
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

/// The API with these authorizers and routes.
///
/// # Errors
/// When a setting is invalid, or two routes are the same.
pub(super) fn read(section: &Section<'_>, auth: Auth, mut routes: Vec<Route>) -> Result<Api, Error> {
    let mut seen = BTreeSet::new();
    for Route { method, path, function, .. } in &routes {
        if !seen.insert((method, path)) {
            let reason = format!("another function also has the route {method} {path}");
            return Err(Error::template(&format!("{function}.Properties.Events"), reason));
        }
    }
    if section.entries.contains_key("Cors") {
        return Err(section.invalid("Cors", "the local cloud supports only routes with the method OPTIONS"));
    }
    routes.sort_by_cached_key(|route| (route.path.clone(), route.method == "ANY", route.method.clone()));
    let settings = section.sections("MethodSettings")?;
    stage_cache::apply_method_settings(&settings, &mut routes)?;
    let mut throttles = BTreeMap::new();
    for setting in settings.iter().filter(|setting| setting.entries.contains_key("ThrottlingRateLimit")) {
        let throttle = usage_plan::throttle(setting, "ThrottlingRateLimit", "ThrottlingBurstLimit")?;
        throttles.insert((setting.required_text("HttpMethod")?, stage_cache::path(setting)?), throttle);
    }
    Ok(Api {
        throttles,
        stage: section.required_text("StageName")?,
        cache_enabled: section.boolean("CacheClusterEnabled")?.unwrap_or_default(),
        minimum_compression_size: section.number("MinimumCompressionSize")?,
        routes,
        authorizers: auth.authorizers,
        gateway_responses: gateway_response::read(section)?,
    })
}
