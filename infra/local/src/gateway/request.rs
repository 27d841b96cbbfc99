//! A request as the gateway's steps see it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::header::HeaderName;
use hyper::http::request::Parts;
use uuid::Uuid;

use super::authorization::Authorization;
use super::routing::PathParameters;
use crate::arn::{ACCOUNT_ID, REGION};
use crate::template::Route;

pub(super) const API_ID: &str = "localcloud";
/// The gateway's time limit for an integration, and for an authorizer.
pub(super) const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);

/// A request, with the facts that the gateway knows before routing.
#[derive(Clone, Copy)]
pub(super) struct GatewayRequest<'request> {
    pub(super) parts: &'request Parts,
    pub(super) body: &'request [u8],
    pub(super) client: SocketAddr,
    pub(super) request_id: Uuid,
    pub(super) now_ms: i64,
    pub(super) stage: &'request str,
}

impl GatewayRequest<'_> {
    pub(super) fn path(&self) -> &str {
        self.parts.uri.path()
    }

    pub(super) fn method(&self) -> &str {
        self.parts.method.as_str()
    }

    /// The ARN of the requested method, for policies. It contains the path as the client sent it.
    pub(super) fn method_arn(&self) -> String {
        let path = self.path().strip_prefix('/').unwrap_or(self.path());
        format!("arn:aws:execute-api:{REGION}:{ACCOUNT_ID}:{API_ID}/{}/{}/{path}", self.stage, self.method())
    }
}

/// A request with its route and its parameters.
pub(super) struct MatchedRequest<'request> {
    pub(super) request: &'request GatewayRequest<'request>,
    pub(super) route: &'request Route,
    pub(super) path_parameters: PathParameters,
    /// All values of each parameter, in their order.
    pub(super) query: BTreeMap<String, Vec<String>>,
}

/// The parameters of a query string. Like API Gateway, also splits the query string at a raw `;`.
pub(super) fn parse_query(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut query = BTreeMap::<String, Vec<String>>::new();
    let pairs = text.split(';').flat_map(|part| form_urlencoded::parse(part.as_bytes()));
    for (name, value) in pairs {
        query.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    query
}

/// Whether the header describes one connection only.
pub(super) fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "expect"
            | "keep-alive"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

#[derive(Clone, Copy, Default)]
pub(super) struct Caller<'request> {
    /// The response of the route's authorizer.
    pub(super) authorization: Option<&'request Authorization>,
    /// The key of a usage plan, if the route requires one.
    pub(super) api_key: Option<&'request str>,
}
