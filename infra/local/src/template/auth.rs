//! Authorizers, and the routes that require an authorizer or a key of a usage plan. Unknown settings are
//! refused: ignoring them could open a route unnoticed.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::HeaderName;
use serde_json::Value;

use super::section::Section;
use crate::arn::function_arn;
use crate::error::Error;

/// The default and the limit of `ReauthorizeEvery`, in seconds.
const DEFAULT_REAUTHORIZE_EVERY_S: u64 = 300;
const MAX_REAUTHORIZE_EVERY_S: u64 = 3_600;
/// The value of `Authorizer` for an event that requires no authorizer.
const NO_AUTHORIZER: &str = "NONE";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorizer {
    pub function: String,
    /// The header with the caller's identity. A request without this header is refused, and the function is
    /// not invoked.
    pub identity_header: String,
    /// How long the function's response is cached, for the whole stage.
    pub reauthorize_every: Duration,
}

pub(super) struct Auth {
    pub(super) authorizers: BTreeMap<String, Authorizer>,
    default_authorizer: Option<String>,
    default_key_required: bool,
    keys_from_authorizer: bool,
}

impl Auth {
    /// # Errors
    /// When a setting is unknown or invalid.
    pub(super) fn read(api: &Section<'_>) -> Result<Self, Error> {
        let auth = api.section("Auth")?;
        auth.only(&["ApiKeyRequired", "Authorizers", "DefaultAuthorizer"])?;
        let declared = auth.section("Authorizers")?;
        let read = |name: &String| Ok((name.clone(), read_authorizer(&declared.section(name)?)?));
        Ok(Self {
            authorizers: declared.entries.keys().map(read).collect::<Result<_, Error>>()?,
            default_authorizer: auth.text("DefaultAuthorizer")?,
            default_key_required: auth.boolean("ApiKeyRequired")?.unwrap_or_default(),
            keys_from_authorizer: api.text("ApiKeySourceType")?.as_deref() == Some("AUTHORIZER"),
        })
    }

    /// Returns the authorizer of the event's route, and whether the route requires a key.
    ///
    /// # Errors
    /// When there is no such authorizer, or a required key cannot come from the authorizer.
    pub(super) fn of_event(&self, event: &Section<'_>) -> Result<(Option<String>, bool), Error> {
        let own = event.section("Auth")?;
        own.only(&["Authorizer", "ApiKeyRequired"])?;
        let name = own.text("Authorizer")?.or_else(|| self.default_authorizer.clone());
        let authorizer = name.filter(|name| name != NO_AUTHORIZER);
        if let Some(name) = authorizer.as_ref().filter(|name| !self.authorizers.contains_key(*name)) {
            return Err(event.invalid("Auth", format!("there is no authorizer {name}")));
        }
        let key_required = own.boolean("ApiKeyRequired")?.unwrap_or(self.default_key_required);
        if key_required && (authorizer.is_none() || !self.keys_from_authorizer) {
            let reason =
                "a required key must come from an authorizer; set ApiKeySourceType: AUTHORIZER at the API";
            return Err(event.invalid("Auth", reason));
        }
        Ok((authorizer, key_required))
    }
}

fn read_authorizer(section: &Section<'_>) -> Result<Authorizer, Error> {
    section.only(&["FunctionArn", "FunctionPayloadType", "Identity"])?;
    if section.text("FunctionPayloadType")?.as_deref() != Some("REQUEST") {
        return Err(section.invalid("FunctionPayloadType", "the local cloud supports only REQUEST"));
    }
    let arn = section.required_text("FunctionArn")?;
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
    let headers = identity.value("Headers")?.unwrap_or_default();
    let Some([Value::String(header)]) = headers.as_array().map(Vec::as_slice) else {
        return Err(identity.invalid("Headers", "it must be a list with one header"));
    };
    HeaderName::try_from(header).map_err(|_| identity.invalid("Headers", "it must be a header name"))?;
    Ok(Authorizer {
        function: function.clone(),
        identity_header: header.clone(),
        reauthorize_every: Duration::from_secs(reauthorize_every_s),
    })
}
