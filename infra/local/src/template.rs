//! What `template.yaml` says, as far as the local cloud acts on it: functions with their environment and schedules, routes
//! with their cache durations and keys, who may ask and how often, the gateway's own answers, and tables. Reading it,
//! instead of a second list of routes, is what makes the local cloud a test of the deployed one.

mod auth;
mod document;
mod expression;
mod gateway_response;
mod schedule;
mod stage_cache;
mod table;
mod usage_plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

pub use self::auth::Authorizer;
use self::auth::EventAuth;
use self::expression::Scope;
pub use self::gateway_response::GatewayResponse;
pub use self::schedule::Schedule;
pub use self::table::Table;
pub use self::usage_plan::{Throttle, UsagePlan};
use crate::Error;

/// Lambda's own default, and the longest that it allows.
const DEFAULT_TIMEOUT_S: u64 = 3;
const MAX_TIMEOUT_S: u64 = 900;
const DEFAULT_MEMORY_MB: u64 = 128;

/// A template as it is written, expressions not yet evaluated.
#[derive(Debug)]
pub struct Document {
    root: Map<String, Value>,
}

/// A template for one choice of parameters.
#[derive(Debug, Clone)]
pub struct Template {
    /// The parameters' values.
    pub parameters: BTreeMap<String, String>,
    /// The functions, by logical id.
    pub functions: BTreeMap<String, Function>,
    /// The tables, by logical id.
    pub tables: BTreeMap<String, Table>,
    /// The API.
    pub api: Api,
    /// How often the keys of each tier may ask.
    pub usage_plans: Vec<UsagePlan>,
}

/// An `AWS::Serverless::Function`.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its logical id.
    pub logical_id: String,
    /// `Metadata.BuildProperties.Binary`: the name of its binary, which is the name of its package, too.
    pub binary: String,
    /// How long an invocation may take.
    pub timeout: Duration,
    /// Its memory in MB, which nothing here enforces.
    pub memory_mb: u64,
    /// Its own environment variables.
    pub environment: BTreeMap<String, String>,
    /// What invokes it regularly.
    pub schedules: Vec<Schedule>,
}

/// The `AWS::Serverless::Api`.
#[derive(Debug, Clone)]
pub struct Api {
    /// Its logical id.
    pub logical_id: String,
    /// `StageName`.
    pub stage: String,
    /// `CacheClusterEnabled`: whether the stage has a cache at all.
    pub cache_enabled: bool,
    /// `CacheClusterSize` in bytes.
    pub cache_bytes: u64,
    /// `MinimumCompressionSize` in bytes, if answers are compressed.
    pub minimum_compression_size: Option<u64>,
    /// The routes by path, `ANY` after the methods of the same path.
    pub routes: Vec<Route>,
    /// `Auth.Authorizers`, by name.
    pub authorizers: BTreeMap<String, Authorizer>,
    /// What preflight requests are answered, if they are.
    pub cors: Option<Cors>,
    /// `GatewayResponses`, by response type.
    pub gateway_responses: BTreeMap<String, GatewayResponse>,
}

/// One method of one path.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// In capitals; `ANY` is every method that the path has no other route for.
    pub method: String,
    /// With parameters in braces, as the template has it.
    pub path: String,
    /// The logical id of the function.
    pub function: String,
    /// The name of the authorizer that is asked first.
    pub authorizer: Option<String>,
    /// Whether it takes a key of a usage plan.
    pub key_required: bool,
    /// Whether the stage cache keeps its answers, provided that the stage has one.
    pub caching: bool,
    /// For how long, if `MethodSettings` says so.
    pub cache_ttl: Option<Duration>,
    /// The parameters that are part of the cache key.
    pub cache_keys: Vec<CacheKey>,
}

/// A request parameter that tells two cached answers apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKey {
    /// A parameter in the path.
    Path(String),
    /// A parameter in the query.
    Query(String),
    /// A header.
    Header(String),
}

/// `Cors` of the API.
#[derive(Debug, Clone)]
pub struct Cors {
    /// `Access-Control-Allow-Origin`.
    pub allow_origin: String,
    /// `Access-Control-Allow-Methods`.
    pub allow_methods: Option<String>,
    /// `Access-Control-Allow-Headers`.
    pub allow_headers: Option<String>,
    /// `Access-Control-Max-Age`.
    pub max_age: Option<String>,
}

impl Document {
    /// The document at `path`.
    ///
    /// # Errors
    /// When there is no such file, or when it is not a template.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::ReadTemplate { path: path.to_owned(), cause })?;
        Self::parse(&text)
    }

    /// The document that `text` holds.
    ///
    /// # Errors
    /// When it is not YAML, or no mapping.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match document::parse(text).map_err(|reason| broken("its top", reason))? {
            Value::Object(root) => Ok(Self { root }),
            _ => Err(broken("its top", "it must be a mapping with Resources")),
        }
    }

    /// Whether the template has the parameter `name`.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.root.get("Parameters").and_then(|parameters| parameters.get(name)).is_some()
    }

    /// The template with these parameters and the defaults of all others.
    ///
    /// # Errors
    /// When a parameter is unknown or has a value that is not allowed, and when the template is broken.
    pub fn evaluate(&self, overrides: &BTreeMap<String, String>) -> Result<Template, Error> {
        let resources = self.mapping("Resources")?;
        let mut scope = Scope {
            parameters: self.parameters(overrides)?,
            conditions: self.mapping("Conditions")?,
            resources: resources.keys().cloned().collect::<BTreeSet<_>>(),
            ..Scope::default()
        };
        let tables = table::read(&resources, &scope)?;
        scope.tables = tables.values().map(|table| (table.logical_id.clone(), table.name.clone())).collect();
        scope.functions = resources
            .iter()
            .filter(|(_, resource)| is_function(resource))
            .map(|(id, _)| id.clone())
            .collect();
        let usage_plans = usage_plan::read(&resources, &scope)?;
        let globals = self.mapping("Globals")?;
        let mut functions = BTreeMap::new();
        let mut routes = Vec::new();
        let mut apis = Vec::new();
        for (logical_id, resource) in &resources {
            match resource.get("Type").and_then(Value::as_str) {
                Some("AWS::Serverless::Function") => {
                    let section = properties(logical_id, resource, globals.get("Function"), &scope);
                    functions.insert(logical_id.clone(), read_function(logical_id, resource, &section)?);
                    routes.extend(read_routes(logical_id, &section)?);
                }
                Some("AWS::Serverless::Api") => {
                    apis.push((logical_id, properties(logical_id, resource, globals.get("Api"), &scope)));
                }
                Some(_) => {}
                None => return Err(broken(logical_id, "it has no Type")),
            }
        }
        let [(logical_id, section)] = apis.as_slice() else {
            return Err(broken("Resources", "there must be exactly one AWS::Serverless::Api"));
        };
        let api = read_api(logical_id, section, routes)?;
        Ok(Template { parameters: scope.parameters, functions, tables, api, usage_plans })
    }

    fn mapping(&self, name: &str) -> Result<Map<String, Value>, Error> {
        match self.root.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(entries)) => Ok(entries.clone()),
            Some(_) => Err(broken(name, "it must be a mapping")),
        }
    }

    fn parameters(&self, overrides: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Error> {
        let declared = self.mapping("Parameters")?;
        if let Some(unknown) = overrides.keys().find(|name| !declared.contains_key(*name)) {
            let known = declared.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(Error::Parameter(format!(
                "the template has no parameter {unknown}; it has {}",
                if known.is_empty() { "none" } else { &known }
            )));
        }
        let mut parameters = BTreeMap::new();
        for (name, declaration) in &declared {
            let value = match (overrides.get(name), declaration.get("Default")) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => text(default)
                    .ok_or_else(|| broken(&format!("Parameters.{name}.Default"), "it must be plain"))?,
                (None, None) => {
                    return Err(Error::Parameter(format!(
                        "the parameter {name} needs a value: --parameter {name}=…"
                    )));
                }
            };
            let allowed = declaration.get("AllowedValues").and_then(Value::as_array);
            let allowed: Option<Vec<String>> = allowed.map(|values| values.iter().filter_map(text).collect());
            if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(&value)) {
                return Err(Error::Parameter(format!(
                    "the parameter {name} cannot be {value:?}; allowed: {}",
                    allowed.join(", ")
                )));
            }
            if declaration.get("Type").and_then(Value::as_str) == Some("Number")
                && value.parse::<f64>().is_err()
            {
                return Err(Error::Parameter(format!(
                    "the parameter {name} must be a number, not {value:?}"
                )));
            }
            parameters.insert(name.clone(), value);
        }
        Ok(parameters)
    }
}

/// A mapping in the template whose entries are evaluated when they are asked for: what nobody asks for may use
/// expressions that only AWS can evaluate.
struct Section<'scope> {
    place: String,
    entries: Map<String, Value>,
    scope: &'scope Scope,
}

impl Section<'_> {
    fn place(&self, name: &str) -> String {
        format!("{}.{name}", self.place)
    }

    fn value(&self, name: &str) -> Result<Option<Value>, Error> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(value) => self.scope.evaluate(value).map_err(|reason| broken(&self.place(name), reason)),
        }
    }

    fn required<T>(&self, name: &str, found: Option<T>) -> Result<T, Error> {
        found.ok_or_else(|| broken(&self.place(name), "it is missing"))
    }

    fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        text(&value).map(Some).ok_or_else(|| broken(&self.place(name), "it must be plain text"))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, Error> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse()
            .map(Some)
            .map_err(|_| broken(&self.place(name), format!("{text:?} is not a whole number")))
    }

    fn truth(&self, name: &str) -> Result<bool, Error> {
        self.truth_if_said(name).map(Option::unwrap_or_default)
    }

    fn truth_if_said(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.text(name)?.as_deref() {
            None => Ok(None),
            Some("false") => Ok(Some(false)),
            Some("true") => Ok(Some(true)),
            Some(other) => Err(broken(&self.place(name), format!("it must be true or false, not {other:?}"))),
        }
    }

    /// # Errors
    /// When there is an entry that is none of these. For what would be wrong, or open to anybody, if it were passed over.
    fn only(&self, known: &[&str]) -> Result<(), Error> {
        match self.entries.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(broken(&self.place(unknown), "the local cloud does not know this setting")),
        }
    }

    /// The mapping `name`, empty where there is none, its own entries not yet evaluated.
    fn section(&self, name: &str) -> Result<Self, Error> {
        let entries = match self.entries.get(name) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(entries)) => entries.clone(),
            Some(_) => return Err(broken(&self.place(name), "it must be a mapping")),
        };
        Ok(Self { place: self.place(name), entries, scope: self.scope })
    }

    fn texts(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut texts = BTreeMap::new();
        for name in self.entries.keys() {
            if let Some(text) = self.text(name)? {
                texts.insert(name.clone(), text);
            }
        }
        Ok(texts)
    }
}

fn is_function(resource: &Value) -> bool {
    resource.get("Type").and_then(Value::as_str) == Some("AWS::Serverless::Function")
}

fn properties<'scope>(
    logical_id: &str,
    resource: &Value,
    globals: Option<&Value>,
    scope: &'scope Scope,
) -> Section<'scope> {
    let mut merged = globals.cloned().unwrap_or_else(|| Value::Object(Map::new()));
    merge(&mut merged, resource.get("Properties").unwrap_or(&Value::Null));
    let entries = merged.as_object().cloned().unwrap_or_default();
    Section { place: format!("{logical_id}.Properties"), entries, scope }
}

/// `Globals` under a resource's own properties, as SAM does it: mappings are merged, lists joined, the rest replaced.
fn merge(base: &mut Value, own: &Value) {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => {
            for (key, value) in own {
                merge(base.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(own)) => base.extend(own.iter().cloned()),
        (_, Value::Null) => {}
        (base, own) => base.clone_from(own),
    }
}

fn read_function(logical_id: &str, resource: &Value, section: &Section<'_>) -> Result<Function, Error> {
    let binary =
        resource.pointer("/Metadata/BuildProperties/Binary").and_then(Value::as_str).ok_or_else(|| {
            broken(
                &format!("{logical_id}.Metadata.BuildProperties.Binary"),
                "it must name the function's binary",
            )
        })?;
    let timeout_s = section.number("Timeout")?.unwrap_or(DEFAULT_TIMEOUT_S);
    if !(1..=MAX_TIMEOUT_S).contains(&timeout_s) {
        return Err(broken(&section.place("Timeout"), format!("it must be 1 to {MAX_TIMEOUT_S} seconds")));
    }
    Ok(Function {
        logical_id: logical_id.to_owned(),
        binary: binary.to_owned(),
        timeout: Duration::from_secs(timeout_s),
        memory_mb: section.number("MemorySize")?.unwrap_or(DEFAULT_MEMORY_MB),
        environment: section.section("Environment")?.section("Variables")?.texts()?,
        schedules: schedule::read(section)?,
    })
}

fn read_routes(logical_id: &str, section: &Section<'_>) -> Result<Vec<(Route, EventAuth)>, Error> {
    let events = section.section("Events")?;
    let mut routes = Vec::new();
    for name in events.entries.keys() {
        let event = events.section(name)?;
        if event.text("Type")?.as_deref() != Some("Api") {
            continue;
        }
        let event = event.section("Properties")?;
        let path = event.required("Path", event.text("Path")?)?;
        if !path.starts_with('/') {
            return Err(broken(&event.place("Path"), "it must begin with a slash"));
        }
        let route = Route {
            method: event.required("Method", event.text("Method")?)?.to_ascii_uppercase(),
            path,
            function: logical_id.to_owned(),
            cache_keys: stage_cache::read_keys(&event)?,
            ..Route::default()
        };
        routes.push((route, EventAuth::read(&event)?));
    }
    Ok(routes)
}

fn read_api(
    logical_id: &str,
    section: &Section<'_>,
    mut routes: Vec<(Route, EventAuth)>,
) -> Result<Api, Error> {
    let mut seen = BTreeSet::new();
    for (route, _) in &routes {
        if !seen.insert((&route.method, &route.path)) {
            let reason = format!("another function has the route {} {}, too", route.method, route.path);
            return Err(broken(&format!("{}.Properties.Events", route.function), reason));
        }
    }
    let authorizers = auth::apply(section, &mut routes)?;
    let mut routes: Vec<_> = routes.into_iter().map(|(route, _)| route).collect();
    routes.sort_by_cached_key(|route| (route.path.clone(), route.method == "ANY", route.method.clone()));
    stage_cache::apply_method_settings(section, &mut routes)?;
    Ok(Api {
        logical_id: logical_id.to_owned(),
        stage: section.required("StageName", section.text("StageName")?)?,
        cache_enabled: section.truth("CacheClusterEnabled")?,
        cache_bytes: stage_cache::read_size(section)?,
        minimum_compression_size: section.number("MinimumCompressionSize")?,
        routes,
        authorizers,
        cors: read_cors(section)?,
        gateway_responses: gateway_response::read(section)?,
    })
}

fn read_cors(section: &Section<'_>) -> Result<Option<Cors>, Error> {
    match section.entries.get("Cors") {
        None => Ok(None),
        Some(Value::Object(_)) => {
            let cors = section.section("Cors")?;
            let setting = |name: &str| Ok::<_, Error>(cors.text(name)?.map(unquote));
            Ok(Some(Cors {
                allow_origin: cors.required("AllowOrigin", setting("AllowOrigin")?)?,
                allow_methods: setting("AllowMethods")?,
                allow_headers: setting("AllowHeaders")?,
                max_age: setting("MaxAge")?,
            }))
        }
        Some(_) => {
            let allow_origin = section.required("Cors", section.text("Cors")?.map(unquote))?;
            Ok(Some(Cors { allow_origin, allow_methods: None, allow_headers: None, max_age: None }))
        }
    }
}

/// SAM writes constants of the gateway in single quotes inside the text.
fn unquote(text: String) -> String {
    match quoted(&text) {
        Some(inner) => inner.to_owned(),
        None => text,
    }
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// A scalar as `CloudFormation` hands it on.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn broken(place: &str, reason: impl Into<String>) -> Error {
    Error::Template { place: place.to_owned(), reason: reason.into() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const SMALL: &str = "
Parameters:
  Switch: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
  Count: {Type: Number, Default: 3}
Conditions:
  IsOn: !Equals [!Ref Switch, 'on']
Globals:
  Function:
    Timeout: 10
    Environment: {Variables: {SHARED: everyone}}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      CacheClusterEnabled: !If [IsOn, true, false]
      MethodSettings:
        - {ResourcePath: /*, HttpMethod: '*', CachingEnabled: false}
        - {ResourcePath: /~1v1~1echo, HttpMethod: GET, CachingEnabled: !If [IsOn, true, false], CacheTtlInSeconds: 5}
      Cors: {AllowOrigin: \"'*'\", AllowMethods: \"'GET'\"}
      GatewayResponses:
        DEFAULT_5XX:
          StatusCode: 500
          ResponseParameters: {Headers: {Retry-After: \"'5'\"}}
          ResponseTemplates: {application/json: '{\"success\":false}'}
  EchoFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: echo}}
    Properties:
      Timeout: !Ref Count
      Environment: {Variables: {OWN: !Sub 'is ${Switch}', TABLE: !Ref Table}}
      Policies: [!GetAtt Table.Arn]
      Events:
        Get:
          Type: Api
          Properties:
            Path: /v1/echo
            Method: get
            RequestParameters:
              - method.request.querystring.mode: {Required: false, Caching: true}
              - method.request.querystring.unread: {Required: false, Caching: false}
        Every: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute)}}
        Other: {Type: Api, Properties: {Path: '/{proxy+}', Method: ANY}}
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
";

    pub(super) fn evaluate(text: &str, overrides: &[(&str, &str)]) -> Result<Template, Error> {
        let overrides =
            overrides.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Document::parse(text)?.evaluate(&overrides)
    }

    #[test]
    fn a_function_inherits_globals_and_adds_its_own() {
        let template = evaluate(SMALL, &[("Switch", "off")]).unwrap();
        let function = &template.functions["EchoFunction"];
        assert_eq!(function.binary, "echo");
        assert_eq!(function.timeout, Duration::from_secs(3));
        assert_eq!(
            function.environment,
            BTreeMap::from([
                ("OWN".to_owned(), "is off".to_owned()),
                ("SHARED".to_owned(), "everyone".to_owned()),
                ("TABLE".to_owned(), "Table".to_owned()),
            ])
        );
    }

    #[test]
    fn routes_carry_their_cache_settings() {
        let api = evaluate(SMALL, &[]).unwrap().api;
        assert!(api.cache_enabled);
        let echo = api.routes.iter().find(|route| route.path == "/v1/echo").unwrap();
        assert_eq!((echo.method.as_str(), echo.caching), ("GET", true));
        assert_eq!(echo.cache_ttl, Some(Duration::from_secs(5)));
        assert_eq!(echo.cache_keys, [CacheKey::Query("mode".to_owned())]);
        let other = api.routes.iter().find(|route| route.method == "ANY").unwrap();
        assert!(!other.caching && other.cache_ttl.is_none());
        assert_eq!(api.routes.len(), 2);

        let api = evaluate(SMALL, &[("Switch", "off")]).unwrap().api;
        assert!(!api.cache_enabled && api.routes.iter().all(|route| !route.caching));
    }

    #[test]
    fn gateway_constants_lose_their_quotes() {
        let api = evaluate(SMALL, &[]).unwrap().api;
        assert_eq!(api.cors.unwrap().allow_origin, "*");
        let response = &api.gateway_responses["DEFAULT_5XX"];
        assert_eq!(response.status, Some(500));
        assert_eq!(response.headers["Retry-After"], "5");
        assert_eq!(response.body.as_deref(), Some("{\"success\":false}"));
    }

    #[test]
    fn a_wrong_parameter_lists_what_is_allowed() {
        let said = evaluate(SMALL, &[("Switsch", "on")]).unwrap_err().to_string();
        assert!(said.contains("Switsch") && said.contains("Count, Switch"), "{said}");
        let said = evaluate(SMALL, &[("Switch", "maybe")]).unwrap_err().to_string();
        assert!(said.contains("maybe") && said.contains("on, off"), "{said}");
        let said = evaluate(SMALL, &[("Count", "few")]).unwrap_err().to_string();
        assert!(said.contains("Count") && said.contains("number"), "{said}");
    }

    #[test]
    fn a_broken_template_names_the_place() {
        for (right, wrong, place) in [
            ("Timeout: !Ref Count", "Timeout: soon", "EchoFunction.Properties.Timeout"),
            ("Timeout: !Ref Count", "Timeout: !Ref Nothing", "EchoFunction.Properties.Timeout"),
            ("Timeout: !Ref Count", "Timeout: 0", "EchoFunction.Properties.Timeout"),
            ("{Binary: echo}", "{}", "EchoFunction.Metadata.BuildProperties.Binary"),
            ("Path: /v1/echo", "Way: /v1/echo", "EchoFunction.Properties.Events.Get.Properties.Path"),
            ("StageName: live", "Name: live", "Api.Properties.StageName"),
            ("/~1v1~1echo", "/~1v1~1gone", "Api.Properties.MethodSettings[1].ResourcePath"),
            ("Caching: true", "Cache: true", "RequestParameters.method.request.querystring.mode"),
            ("Type: AWS::Serverless::Api", "Type: AWS::ApiGateway::RestApi", "Resources"),
            ("StatusCode: 500", "StatusCode: 5000", "Api.Properties.GatewayResponses.DEFAULT_5XX.StatusCode"),
            (
                "Path: '/{proxy+}', Method: ANY",
                "Path: /v1/echo, Method: GET",
                "EchoFunction.Properties.Events",
            ),
            ("!Equals [!Ref Switch, 'on']", "!Equals [!Ref Switch]", "the condition IsOn"),
        ] {
            assert!(SMALL.contains(right), "{right}");
            let said = evaluate(&SMALL.replace(right, wrong), &[]).unwrap_err().to_string();
            assert!(said.contains(place), "{wrong}: {said}");
        }
    }

    #[test]
    fn the_deployed_template_evaluates() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
        let dashboard = BTreeMap::from([("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())]);
        let template = Document::read(&path).unwrap().evaluate(&dashboard).unwrap();
        assert_eq!(template.functions["BazaarFunction"].binary, "bazaar");
        assert!(
            template.functions["ProfileFunction"].environment["HYPIXEL_API_KEY"].starts_with("{{resolve:")
        );
        let profile =
            template.api.routes.iter().find(|route| route.path == "/v1/profile/{username}").unwrap();
        assert_eq!(profile.cache_ttl, Some(Duration::from_mins(15)));
        assert_eq!(profile.cache_keys, [CacheKey::Path("username".to_owned())]);
        assert_eq!((profile.authorizer.is_some(), profile.key_required), (true, true));
        let tiers: Vec<_> = template.usage_plans.iter().map(|plan| plan.tier.as_str()).collect();
        assert_eq!(tiers, ["pro", "starter"]);
    }
}
