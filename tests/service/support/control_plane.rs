//! Calls API Gateway's control plane directly, without the functions.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::Cloud;
use serde_json::Value;

use super::http::Response;

/// Sends the request with this body, which is `null` for none. Returns the status and the body of the
/// response.
pub(crate) async fn control(cloud: &Cloud, method: Method, path: &str, body: Value) -> (u16, Value) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder().method(method).uri(format!("{}{path}", cloud.lambda_url()));
    let response = client.request(request.body(Full::from(body)).unwrap()).await.unwrap();
    let response = Response::read(response).await;
    (response.status.as_u16(), serde_json::from_str(&response.text).unwrap_or_default())
}
