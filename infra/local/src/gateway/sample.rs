//! Sample events, as the gateway sends them for a request. Values that change from run to run are fixed.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use hyper::Request;
use hyper::http;
use serde_json::Value;
use uuid::Uuid;

use super::event;
use super::request::{Caller, GatewayRequest, MatchedRequest, parse_query};
use super::routing::Routing;
use crate::error::SampleError;
use crate::template::Route;

/// Returns the event for the function of the route at `path`, for a `GET` request. `request` is the request's
/// path and query, `now_ms` its time in Unix milliseconds.
///
/// # Errors
/// If the route does not match the request.
pub fn sample_event(path: &str, request: &str, now_ms: i64) -> Result<Value, SampleError> {
    build(path, Request::get(request), now_ms, |matched| event::for_integration(matched, Caller::default()))
}

/// Returns the event for an authorizer, for `GET path` with this key.
///
/// # Errors
/// If a request cannot have this path.
pub fn sample_authorizer_event(path: &str, key: &str, now_ms: i64) -> Result<Value, SampleError> {
    build(path, Request::get(path).header("X-API-Key", key), now_ms, event::for_authorizer)
}

fn build(
    path: &str,
    request: http::request::Builder,
    now_ms: i64,
    event: impl Fn(&MatchedRequest<'_>) -> Bytes,
) -> Result<Value, SampleError> {
    let request = request.header("Host", "localhost").header("User-Agent", "price-board/2.0");
    let (parts, ()) = request.body(())?.into_parts();
    let route = Route { path: path.to_owned(), method: "GET".to_owned(), ..Route::default() };
    let routing = Routing::new(&[route]);
    let found = routing.find("GET", parts.uri.path());
    let (route, path_parameters) = found.ok_or_else(|| SampleError::NoRoute(path.to_owned()))?;
    let query = parse_query(parts.uri.query().unwrap_or_default());
    let request = &GatewayRequest {
        parts: &parts,
        body: b"",
        client: SocketAddr::from((Ipv4Addr::new(203, 0, 113, 20), 0)),
        request_id: Uuid::from_u128(0x0f1e_2d3c_4b5a_4687_8796_a5b4_c3d2_e1f0),
        now_ms,
        stage: "live",
    };
    Ok(serde_json::from_slice(&event(&MatchedRequest { request, route, path_parameters, query }))?)
}
