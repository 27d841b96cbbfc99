//! Who may ask: the authorizers of the API, and which routes want one, or a key of a usage plan. What cannot be meant is
//! refused, because a route that is open by mistake looks like one that works.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::HeaderName;
use serde_json::Value;

use super::{Route, Section, broken, text};
use crate::Error;

/// What SAM and API Gateway do where nothing is said, and the longest that they allow.
const DEFAULT_REAUTHORIZE_EVERY_S: u64 = 300;
const MAX_REAUTHORIZE_EVERY_S: u64 = 3_600;
/// How an event says that it wants no authorizer.
const NO_AUTHORIZER: &str = "NONE";

/// An authorizer of the API: a function that says who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorizer {
    /// The logical id of its function.
    pub function: String,
    /// The headers that say who asks. Without one of them nobody gets in, and the function is not asked.
    pub identity_headers: Vec<String>,
    /// For how long its answer counts, for the whole stage; zero: for one request.
    pub reauthorize_every: Duration,
}

/// `Auth` of an event, as far as it says something.
pub(super) struct EventAuth {
    place: String,
    authorizer: Option<String>,
    key_required: Option<bool>,
}

impl EventAuth {
    /// # Errors
    /// When it says what is not understood here.
    pub(super) fn read(event: &Section<'_>) -> Result<Self, Error> {
        let auth = event.section("Auth")?;
        auth.only(&["Authorizer", "ApiKeyRequired"])?;
        Ok(Self {
            authorizer: auth.text("Authorizer")?,
            key_required: auth.truth_if_said("ApiKeyRequired")?,
            place: auth.place,
        })
    }
}

/// The authorizers of the API by name. The routes are told which of them is theirs, and whether they want a key.
///
/// # Errors
/// When something is unknown, contradicts something else, or would leave preflight requests without an answer.
pub(super) fn apply(
    api: &Section<'_>,
    routes: &mut [(Route, EventAuth)],
) -> Result<BTreeMap<String, Authorizer>, Error> {
    let auth = api.section("Auth")?;
    auth.only(&[
        "AddApiKeyRequiredToCorsPreflight",
        "AddDefaultAuthorizerToCorsPreflight",
        "ApiKeyRequired",
        "Authorizers",
        "DefaultAuthorizer",
    ])?;
    let declared = auth.section("Authorizers")?;
    let mut authorizers = BTreeMap::new();
    for name in declared.entries.keys() {
        authorizers.insert(name.clone(), read_authorizer(&declared.section(name)?)?);
    }
    let default = auth.text("DefaultAuthorizer")?;
    let known = |place: String, name: &str| {
        if authorizers.contains_key(name) {
            return Ok(());
        }
        Err(broken(&place, format!("there is no authorizer {name} among Authorizers")))
    };
    if let Some(default) = &default {
        known(auth.place("DefaultAuthorizer"), default)?;
    }
    let key_required = auth.truth("ApiKeyRequired")?;
    check_preflight(api, &auth, default.is_some(), key_required)?;
    let named_by_authorizer = names_keys(api)?;
    for (route, event) in routes.iter_mut() {
        route.authorizer = match &event.authorizer {
            None => default.clone(),
            Some(name) if name == NO_AUTHORIZER => None,
            Some(name) => {
                known(format!("{}.Authorizer", event.place), name)?;
                Some(name.clone())
            }
        };
        route.key_required = event.key_required.unwrap_or(key_required);
        if route.key_required && (route.authorizer.is_none() || !named_by_authorizer) {
            let reason = "a key is required, but nothing says whose: that takes an authorizer, and ApiKeySourceType: AUTHORIZER at the API";
            return Err(broken(&event.place, reason));
        }
    }
    if !routes.iter().any(|(route, _)| route.key_required) && named_by_authorizer {
        let reason = "keys are named by an authorizer (ApiKeySourceType), but no route wants one: is ApiKeyRequired missing?";
        return Err(broken(&auth.place, reason));
    }
    if !routes.iter().any(|(route, _)| route.authorizer.is_some()) && !authorizers.is_empty() {
        let reason = "no route asks any of them: is DefaultAuthorizer missing?";
        return Err(broken(&auth.place("Authorizers"), reason));
    }
    Ok(authorizers)
}

fn read_authorizer(section: &Section<'_>) -> Result<Authorizer, Error> {
    section.only(&[
        "DisableFunctionDefaultPermissions",
        "FunctionArn",
        "FunctionInvokeRole",
        "FunctionPayloadType",
        "Identity",
    ])?;
    if section.text("FunctionPayloadType")?.as_deref() != Some("REQUEST") {
        let reason = "the local cloud knows authorizers that get the request, so it must be REQUEST";
        return Err(broken(&section.place("FunctionPayloadType"), reason));
    }
    let arn = section.required("FunctionArn", section.text("FunctionArn")?)?;
    let function = section.scope.functions.iter().find(|id| crate::function_arn(id) == arn);
    let function = function.ok_or_else(|| {
        broken(&section.place("FunctionArn"), "it must be the Arn of a function in the template")
    })?;
    let identity = section.section("Identity")?;
    identity.only(&["Headers", "ReauthorizeEvery"])?;
    let reauthorize_every_s = identity.number("ReauthorizeEvery")?.unwrap_or(DEFAULT_REAUTHORIZE_EVERY_S);
    if reauthorize_every_s > MAX_REAUTHORIZE_EVERY_S {
        let reason = format!("it must be 0 to {MAX_REAUTHORIZE_EVERY_S} seconds");
        return Err(broken(&identity.place("ReauthorizeEvery"), reason));
    }
    Ok(Authorizer {
        function: function.clone(),
        identity_headers: read_headers(&identity)?,
        reauthorize_every: Duration::from_secs(reauthorize_every_s),
    })
}

fn read_headers(identity: &Section<'_>) -> Result<Vec<String>, Error> {
    let wrong = || broken(&identity.place("Headers"), "it must be a list with the name of a header");
    let Some(Value::Array(headers)) = identity.value("Headers")? else { return Err(wrong()) };
    let names: Option<Vec<String>> =
        headers.iter().map(|name| text(name).filter(|name| HeaderName::try_from(name).is_ok())).collect();
    names.filter(|names| !names.is_empty()).ok_or_else(wrong)
}

/// Whether the keys of usage plans are named by the authorizer.
fn names_keys(api: &Section<'_>) -> Result<bool, Error> {
    match api.text("ApiKeySourceType")?.as_deref() {
        None | Some("HEADER") => Ok(false),
        Some("AUTHORIZER") => Ok(true),
        Some(other) => {
            let reason = format!("it must be HEADER or AUTHORIZER, not {other:?}");
            Err(broken(&api.place("ApiKeySourceType"), reason))
        }
    }
}

/// A browser sends no key with a preflight request. SAM asks for one there unless it is told not to.
fn check_preflight(
    api: &Section<'_>,
    auth: &Section<'_>,
    has_default: bool,
    key_required: bool,
) -> Result<(), Error> {
    if !api.entries.contains_key("Cors") {
        return Ok(());
    }
    for (setting, matters) in [
        ("AddDefaultAuthorizerToCorsPreflight", has_default),
        ("AddApiKeyRequiredToCorsPreflight", key_required),
    ] {
        if matters && auth.truth_if_said(setting)? != Some(false) {
            let reason = "it must be false (SAM's default is true): a preflight request cannot carry a key";
            return Err(broken(&auth.place(setting), reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::evaluate;
    use super::*;

    const PROTECTED: &str = "
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      ApiKeySourceType: AUTHORIZER
      Auth:
        DefaultAuthorizer: Keys
        AddDefaultAuthorizerToCorsPreflight: false
        ApiKeyRequired: true
        AddApiKeyRequiredToCorsPreflight: false
        Authorizers:
          Keys:
            FunctionPayloadType: REQUEST
            FunctionArn: !GetAtt KeyFunction.Arn
            Identity: {Headers: [X-API-Key], ReauthorizeEvery: 60}
      Cors: \"'*'\"
  KeyFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: keys}}
  EchoFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: echo}}
    Properties:
      Events:
        Closed: {Type: Api, Properties: {Path: /closed, Method: GET}}
        Open: {Type: Api, Properties: {Path: /open, Method: GET, Auth: {Authorizer: NONE, ApiKeyRequired: false}}}
        NoPlan: {Type: Api, Properties: {Path: /unplanned, Method: GET, Auth: {ApiKeyRequired: false}}}
";

    #[test]
    fn routes_have_the_default_authorizer_unless_they_say_otherwise() {
        let api = evaluate(PROTECTED, &[]).unwrap().api;
        let route = |path: &str| {
            let route = api.routes.iter().find(|route| route.path == path).unwrap();
            (route.authorizer.as_deref(), route.key_required)
        };
        assert_eq!(route("/closed"), (Some("Keys"), true));
        assert_eq!(route("/open"), (None, false));
        assert_eq!(route("/unplanned"), (Some("Keys"), false));
        let expected = Authorizer {
            function: "KeyFunction".to_owned(),
            identity_headers: vec!["X-API-Key".to_owned()],
            reauthorize_every: Duration::from_mins(1),
        };
        assert_eq!(api.authorizers, BTreeMap::from([("Keys".to_owned(), expected)]));
    }

    #[test]
    fn a_template_without_auth_has_open_routes() {
        let open = PROTECTED
            .replace("      Auth:", "      Unread:")
            .replace("ApiKeySourceType: AUTHORIZER", "Name: x");
        let api = evaluate(&open, &[]).unwrap().api;
        assert!(api.authorizers.is_empty());
        assert!(api.routes.iter().all(|route| route.authorizer.is_none() && !route.key_required));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_where_it_stands() {
        for (right, wrong, place, reason) in [
            (
                "DefaultAuthorizer: Keys",
                "DefaultAuthorizer: Locks",
                "Auth.DefaultAuthorizer",
                "no authorizer Locks",
            ),
            ("DefaultAuthorizer: Keys", "DefaultAuthoriser: Keys", "Auth.DefaultAuthoriser", "does not know"),
            (
                "      Auth:\n        Def",
                "      Auht:\n        Def",
                "Api.Properties.Auth",
                "no route wants one",
            ),
            ("        ApiKeyRequired: true\n", "", "Api.Properties.Auth", "no route wants one"),
            ("REQUEST", "TOKEN", "Auth.Authorizers.Keys.FunctionPayloadType", "REQUEST"),
            ("!GetAtt KeyFunction.Arn", "someone", "Auth.Authorizers.Keys.FunctionArn", "Arn of a function"),
            ("!GetAtt KeyFunction.Arn", "!GetAtt Api.Arn", "Auth.Authorizers.Keys.FunctionArn", "Api.Arn"),
            ("[X-API-Key]", "[]", "Auth.Authorizers.Keys.Identity.Headers", "list"),
            ("[X-API-Key]", "['a b']", "Auth.Authorizers.Keys.Identity.Headers", "list"),
            ("Headers:", "QueryStrings:", "Identity.QueryStrings", "does not know"),
            ("ReauthorizeEvery: 60", "ReauthorizeEvery: 3601", "Identity.ReauthorizeEvery", "0 to 3600"),
            (
                "AddDefaultAuthorizerToCorsPreflight: false",
                "",
                "Auth.AddDefaultAuthorizerToCorsPreflight",
                "false",
            ),
            (
                "AddApiKeyRequiredToCorsPreflight: false",
                "AddApiKeyRequiredToCorsPreflight: true",
                "Auth.AddApiKeyRequiredToCorsPreflight",
                "false",
            ),
            (
                "ApiKeySourceType: AUTHORIZER",
                "ApiKeySourceType: HEADER",
                "Events.Closed.Properties.Auth",
                "whose",
            ),
            (
                "ApiKeySourceType: AUTHORIZER",
                "ApiKeySourceType: KEY",
                "Api.Properties.ApiKeySourceType",
                "AUTHORIZER",
            ),
            (
                "Authorizer: NONE, ApiKeyRequired: false",
                "Authorizer: NONE",
                "Events.Open.Properties.Auth",
                "whose",
            ),
            ("Authorizer: NONE", "Authorizer: Locks", "Events.Open.Properties.Auth.Authorizer", "Locks"),
            (
                "Authorizer: NONE",
                "Authoriser: NONE",
                "Events.Open.Properties.Auth.Authoriser",
                "does not know",
            ),
        ] {
            assert!(PROTECTED.contains(right), "{right}");
            let said = evaluate(&PROTECTED.replace(right, wrong), &[]).unwrap_err().to_string();
            assert!(said.contains(&format!("{place}:")) && said.contains(reason), "{wrong}: {said}");
        }
    }
}
