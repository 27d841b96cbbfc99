//! `GET /` lists the endpoints, and `GET /openapi.json`, `GET /docs.md` and `GET /llms.txt` describe them.
//! This function also responds to the CORS preflight of every path, and with a 404 to every request that
//! matches no route.

use common::config::Config;
use common::description::{Describe, Description};
use common::error::ApiError;
use common::excerpt::Excerpt;
use common::lambda::{Handler, StartError};
use common::request::Request;
use common::response::Response;
use common::response::envelope::{API_VERSION, Document};
use common::response::file::File;
use common::routes::{self, AUCTIONS_COLUMNS, BAZAAR_COLUMNS, Parameter, Route};
use schemars::JsonSchema;
use serde::Serialize;

const NAME: &str = "Game Data Query Service";

/// The placeholder in both texts for the address of the public files.
const PUBLIC_FILES: &str = "{files}";

/// The OpenAPI document. `cargo generate` generates it from the functions' types, a test compares the two,
/// and the build script removes white space.
const OPENAPI_DOCUMENT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// The API reference as Markdown, which `cargo generate` also writes.
static REFERENCE: File = File {
    name: "docs.md",
    content_type: "text/markdown; charset=utf-8",
    json: include_str!(concat!(env!("OUT_DIR"), "/docs.md.json")),
    bytes: include_str!("../docs.md").len(),
    ..TEXT
};

/// The summary for language models, which `cargo generate` also writes.
static SUMMARY: File = File {
    name: "llms.txt",
    content_type: "text/plain; charset=utf-8",
    json: include_str!(concat!(env!("OUT_DIR"), "/llms.txt.json")),
    bytes: include_str!("../llms.txt").len(),
    ..TEXT
};

/// The fields that both texts share.
const TEXT: File = File {
    name: "",
    content_type: "",
    cache_control: "public, max-age=300",
    content_security_policy: "default-src 'none'; frame-ancestors 'none'",
    json: "",
    bytes: 0,
};

/// The service and its endpoints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Index")]
struct EndpointList<'a> {
    /// The name of the service.
    name: &'static str,
    /// The version of the contract.
    api_version: &'static str,
    /// The documentation: a URL, or a path below the base address.
    documentation: &'a str,
    /// The example clients, as a path below the base address.
    examples: &'static str,
    /// The base address of the public files, which require no key; null if the operator has not enabled them.
    public_files: Option<&'a str>,
    /// The header line of the public files `/days/bazaar/DATE.csv.gz`.
    bazaar_columns: &'static str,
    /// The header line of the public files `/days/auctions/DATE.csv.gz`.
    auctions_columns: &'static str,
    /// The endpoints.
    endpoints: Vec<Endpoint>,
}

/// One endpoint.
#[derive(Debug, Serialize, JsonSchema)]
struct Endpoint {
    /// The HTTP method: `GET`.
    method: &'static str,
    /// The path, with parameters in braces.
    path: &'static str,
    /// The title of the endpoint.
    summary: &'static str,
    /// How long a response may be cached, in seconds.
    cache_seconds: u64,
    /// The parameters.
    parameters: Vec<EndpointParameter>,
}

/// One parameter of an endpoint.
#[derive(Debug, Serialize, JsonSchema)]
struct EndpointParameter {
    /// The name.
    name: &'static str,
    /// The location: `path` or `query`.
    #[serde(rename = "in")]
    location: &'static str,
    /// Whether every request requires it.
    required: bool,
    /// The meaning and the allowed values.
    description: String,
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
        let &Parameter { name, location, required, .. } = parameter;
        Self { name, location: location.name(), required, description: parameter.description() }
    }
}

#[derive(Debug)]
pub struct Index {
    documentation: String,
    public_files: Option<String>,
    reference: &'static File,
    summary: &'static File,
}

impl Handler for Index {
    const ROUTE: &'static Route = &routes::INDEX;

    fn new(config: &Config) -> Result<Self, StartError> {
        let documentation =
            config.text("DOCUMENTATION_URL").unwrap_or_else(|| routes::OPENAPI.path.to_owned());
        let public_files = config.text("PUBLIC_FILES_URL");
        let address = public_files.as_deref().unwrap_or("none");
        let [reference, summary] =
            [&REFERENCE, &SUMMARY].map(|text| &*Box::leak(Box::new(text.with_value(PUBLIC_FILES, address))));
        Ok(Self { documentation, public_files, reference, summary })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let document = match (request.method(), request.resource()) {
            ("GET" | "HEAD", path) if path == routes::INDEX.path => {
                endpoints(&self.documentation, self.public_files.as_deref())?
            }
            // Copied for each request: there are few requests, and a document built at the start would delay
            // every cold start.
            ("GET" | "HEAD", path) if path == routes::OPENAPI.path => {
                Document::bare(OPENAPI_DOCUMENT.to_owned())
            }
            ("GET" | "HEAD", path) if path == routes::DOCS_MARKDOWN.path => {
                return Ok(Response::File(self.reference));
            }
            ("GET" | "HEAD", path) if path == routes::LLMS.path => return Ok(Response::File(self.summary)),
            ("OPTIONS", _) => return Ok(Response::Preflight),
            (method, _) => return Err(unknown_route(method, request.path())),
        };
        Ok(Response::uncached(document))
    }
}

/// Returns the list of endpoints. `documentation` is the address of the documentation, and `public_files`
/// that of the public files.
pub fn endpoints(documentation: &str, public_files: Option<&str>) -> Result<Document, ApiError> {
    let data = EndpointList {
        name: NAME,
        api_version: API_VERSION,
        documentation,
        examples: "/docs.md#examples",
        public_files,
        bazaar_columns: BAZAAR_COLUMNS,
        auctions_columns: AUCTIONS_COLUMNS,
        endpoints: routes::VERSION_1.into_iter().map(Endpoint::from).collect(),
    };
    Document::of(&data).map_err(ApiError::internal)
}

fn unknown_route(method: &str, path: &str) -> ApiError {
    let (method, path) = (Excerpt::of(method), Excerpt::of(path));
    ApiError::not_found(format!(
        "Route {method} {path} not found. See GET / for the list of available endpoints."
    ))
}

impl Describe for Index {
    fn description() -> Description {
        Description::of::<EndpointList>(Self::ROUTE, include_str!("../example.json"))
    }
}
