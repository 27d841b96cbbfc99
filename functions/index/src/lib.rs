//! `GET /`, which lists the endpoints, and every request that no other route takes.

use std::sync::Arc;

use common::config::Config;
use common::envelope::{API_VERSION, Answer, Document};
use common::error::ApiError;
use common::lambda::{Function, StartError};
use common::params::Echo;
use common::request::Request;
use common::routes::{self, Parameter, Route};
use serde::Serialize;

/// What the service calls itself.
const NAME: &str = "Game Data Query Service";

/// The data of an answer.
#[derive(Debug, Serialize)]
struct Data<'a> {
    /// The name of the service.
    name: &'static str,
    /// The version of the contract.
    api_version: &'static str,
    /// Where to read more; empty where the operator gave no address.
    documentation: &'a str,
    /// What can be asked.
    endpoints: Vec<Endpoint>,
}

/// One endpoint.
#[derive(Debug, Serialize)]
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
        Ok(Self { documentation: config.documentation_url.clone() })
    }

    async fn answer(&self, request: &Request) -> Result<Answer, ApiError> {
        if (request.method(), request.resource()) != ("GET", Self::ROUTE.path) {
            return Err(unknown_route(request.method(), request.path()));
        }
        let endpoints = routes::VERSION_1.into_iter().map(Endpoint::from).collect();
        let data =
            Data { name: NAME, api_version: API_VERSION, documentation: &self.documentation, endpoints };
        let document = Document::of(&data).map_err(ApiError::internal)?;
        Ok(Answer { document: Arc::new(document), cached: false, fetched_at: None, refresh_failure: None })
    }
}

fn unknown_route(method: &str, path: &str) -> ApiError {
    let (method, path) = (Echo::of(method), Echo::of(path));
    ApiError::not_found(format!(
        "Route {method} {path} not found. See GET / for the list of available endpoints."
    ))
}
