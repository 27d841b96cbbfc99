//! `GET /`, which lists the endpoints, `GET /openapi.json`, which describes them, and every request that no other route
//! takes.

use std::sync::Arc;

use common::config::Config;
use common::envelope::{API_VERSION, Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
#[cfg(feature = "openapi")]
use common::openapi::{Described, Description};
use common::params::Echo;
use common::request::Request;
use common::routes::{self, Parameter, Route};
#[cfg(feature = "openapi")]
use schemars::JsonSchema;
use serde::Serialize;

/// What the service calls itself.
const NAME: &str = "Game Data Query Service";

/// The API description, which `cargo openapi` makes of the functions' own types. A test compares.
const DESCRIPTION: &str = include_str!("../openapi.json");

/// What the service is and what can be asked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema), schemars(rename = "Index"))]
struct Data<'a> {
    /// The name of the service.
    name: &'static str,
    /// The version of the contract.
    api_version: &'static str,
    /// Where to read more: an address that the operator gave, or else the path of the API description, to be appended to
    /// the base address like the paths of the endpoints.
    documentation: &'a str,
    /// What can be asked.
    endpoints: Vec<Endpoint>,
}

/// One endpoint.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema))]
struct Endpoint {
    /// The HTTP method: `GET`.
    method: &'static str,
    /// The path, parameters in braces.
    path: &'static str,
    /// What comes back.
    summary: &'static str,
    /// How long an answer may be served again, in seconds.
    cache_seconds: u64,
    /// What can be given with it.
    parameters: Vec<EndpointParameter>,
}

/// One parameter of an endpoint.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(JsonSchema))]
struct EndpointParameter {
    /// The name.
    name: &'static str,
    /// Where it stands: `path` or `query`.
    #[serde(rename = "in")]
    location: &'static str,
    /// Whether every request must have it.
    required: bool,
    /// What it means and what is allowed.
    description: &'static str,
}

impl From<&Route> for Endpoint {
    fn from(route: &Route) -> Self {
        let parameters = route.parameters.iter().map(EndpointParameter::from).collect();
        let cache_seconds = route.cache.as_secs();
        Self { method: "GET", path: route.path, summary: route.summary, cache_seconds, parameters }
    }
}

impl From<&Parameter> for EndpointParameter {
    fn from(parameter: &Parameter) -> Self {
        let &Parameter { name, location, required, description } = parameter;
        Self { name, location: location.name(), required, description }
    }
}

/// The function.
#[derive(Debug)]
pub struct Index {
    documentation: String,
}

impl Function for Index {
    const ROUTE: &'static Route = &routes::INDEX;

    fn new(config: &Config) -> Result<Self, StartError> {
        let given = Some(&config.documentation_url).filter(|url| !url.is_empty());
        let documentation = given.cloned().unwrap_or_else(|| routes::OPENAPI.path.to_owned());
        Ok(Self { documentation })
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        let document = match (request.method(), request.resource()) {
            ("GET", path) if path == routes::INDEX.path => self.endpoints()?,
            // Copied when it is asked for, which is seldom; every start would pay for it otherwise.
            ("GET", path) if path == routes::OPENAPI.path => Document::bare(DESCRIPTION.to_owned()),
            (method, _) => return Err(unknown_route(method, request.path())),
        };
        let document = Arc::new(document);
        Ok(Answer { document, cached: false, fetched_at: None, refresh_failure: None })
    }
}

impl Index {
    fn endpoints(&self) -> Result<Document, ApiError> {
        let endpoints = routes::VERSION_1.into_iter().map(Endpoint::from).collect();
        let documentation = &self.documentation;
        let data = Data { name: NAME, api_version: API_VERSION, documentation, endpoints };
        Document::of(&data).map_err(ApiError::internal)
    }
}

fn unknown_route(method: &str, path: &str) -> ApiError {
    let (method, path) = (Echo::of(method), Echo::of(path));
    ApiError::not_found(format!(
        "Route {method} {path} not found. See GET / for the list of available endpoints."
    ))
}

#[cfg(feature = "openapi")]
impl Described for Index {
    fn description() -> Description {
        Description::of::<Data>(Self::ROUTE)
    }
}
