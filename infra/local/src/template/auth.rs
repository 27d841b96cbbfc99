//! Authorizers, and the routes that require one or a key of a usage plan. Unknown settings are refused: a route that is
//! open by mistake looks like one that works.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::HeaderName;
use serde_json::Value;

use super::route::{EventAuth, Route};
use super::section::{Section, invalid};
use crate::arn::function_arn;
use crate::error::Error;

/// The default and the limit of SAM and API Gateway.
const DEFAULT_REAUTHORIZE_EVERY_S: u64 = 300;
const MAX_REAUTHORIZE_EVERY_S: u64 = 3_600;
/// The authorizer of an event without one.
const NO_AUTHORIZER: &str = "NONE";

/// An authorizer of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorizer {
    /// The logical id of its function.
    pub function: String,
    /// The header with the caller's identity. Without it, a request is refused and the function is not invoked.
    pub identity_header: String,
    /// How long its response is cached, for the whole stage.
    pub reauthorize_every: Duration,
}

/// The authorizers of the API by name. Sets the authorizer of each route, and whether it requires a key.
///
/// # Errors
/// When a setting is unknown or invalid.
pub(super) fn apply(
    api: &Section<'_>,
    routes: &mut [(Route, EventAuth)],
) -> Result<BTreeMap<String, Authorizer>, Error> {
    let auth = api.section("Auth")?;
    auth.only(&["ApiKeyRequired", "Authorizers", "DefaultAuthorizer"])?;
    let declared = auth.section("Authorizers")?;
    let mut authorizers = BTreeMap::new();
    for name in declared.entries.keys() {
        authorizers.insert(name.clone(), read_authorizer(&declared.section(name)?)?);
    }
    let default = auth.text("DefaultAuthorizer")?;
    let default_key_required = auth.boolean("ApiKeyRequired")?.unwrap_or_default();
    let keys_from_authorizer = api.text("ApiKeySourceType")?.as_deref() == Some("AUTHORIZER");
    for (route, event) in routes.iter_mut() {
        let name = event.authorizer.as_ref().or(default.as_ref());
        route.authorizer = name.filter(|name| *name != NO_AUTHORIZER).cloned();
        if let Some(name) = route.authorizer.as_ref().filter(|name| !authorizers.contains_key(*name)) {
            return Err(invalid(&event.place, format!("there is no authorizer {name}")));
        }
        route.key_required = event.key_required.unwrap_or(default_key_required);
        if route.key_required && (route.authorizer.is_none() || !keys_from_authorizer) {
            let reason =
                "a required key must come from an authorizer, with ApiKeySourceType: AUTHORIZER at the API";
            return Err(invalid(&event.place, reason));
        }
    }
    Ok(authorizers)
}

fn read_authorizer(section: &Section<'_>) -> Result<Authorizer, Error> {
    section.only(&["FunctionArn", "FunctionPayloadType", "Identity"])?;
    if section.text("FunctionPayloadType")?.as_deref() != Some("REQUEST") {
        return Err(section.invalid("FunctionPayloadType", "the local cloud supports only REQUEST"));
    }
    let arn = section.required("FunctionArn", section.text("FunctionArn")?)?;
    let function = section.scope.functions.iter().find(|id| function_arn(id) == arn);
    let function = function
        .ok_or_else(|| section.invalid("FunctionArn", "it must be the Arn of a function in the template"))?;
    let identity = section.section("Identity")?;
    identity.only(&["Headers", "ReauthorizeEvery"])?;
    let reauthorize_every_s = identity.number("ReauthorizeEvery")?.unwrap_or(DEFAULT_REAUTHORIZE_EVERY_S);
    if reauthorize_every_s > MAX_REAUTHORIZE_EVERY_S {
        let reason = format!("it must be 0 to {MAX_REAUTHORIZE_EVERY_S} seconds");
        return Err(identity.invalid("ReauthorizeEvery", reason));
    }
    let headers = identity.list("Headers")?;
    let [Value::String(header)] = headers.as_slice() else {
        return Err(identity.invalid("Headers", "it must be a list with one header"));
    };
    HeaderName::try_from(header).map_err(|_| identity.invalid("Headers", "it must be a header name"))?;
    Ok(Authorizer {
        function: function.clone(),
        identity_header: header.clone(),
        reauthorize_every: Duration::from_secs(reauthorize_every_s),
    })
}
