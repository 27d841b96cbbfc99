//! Invokes functions through Lambda's Invoke API instead of the gateway, so a test can choose the time of a
//! request to the millisecond.

use std::collections::BTreeMap;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::Cloud;
use percent_encoding::percent_decode_str;
use serde_json::json;

use super::examples::examples;
use super::http::Response;
use super::logs::REQUEST_ID;

/// The function behind `path`, and the gateway's event for a request at `time_ms`.
pub(crate) fn event(path: &str, time_ms: i64) -> (&'static str, String) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut parameters = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        parameters.entry(name).or_default().push(percent_decode_str(value).decode_utf8_lossy());
    }
    let route = examples()
        .map(|example| example.route)
        .find(|route| match route.path.split_once("{username}") {
            Some((front, _)) => path.starts_with(front),
            None => path == route.path,
        })
        .unwrap_or_else(|| panic!("no route has the path {path}"));
    let event = json!({
        "httpMethod": "GET",
        "path": path,
        "resource": route.path,
        "headers": {},
        "multiValueHeaders": {},
        "queryStringParameters": {},
        "multiValueQueryStringParameters": parameters,
        "pathParameters": {"username": path.rsplit('/').next()},
        "requestContext": {
            "requestTimeEpoch": time_ms,
            "authorizer": {"account": "local-pro", "tier": "pro", "principalId": "local-pro"},
        },
        "body": null,
        "isBase64Encoded": false,
    });
    (route.function, event.to_string())
}

/// Invokes the function behind `path` with a request at `time_ms`, and returns its response.
pub(crate) async fn get_at(cloud: &Cloud, path: &str, time_ms: i64) -> Response {
    let (function, event) = event(path, time_ms);
    let invoked = invoke(cloud, function, event).await;
    let response = invoked.json();
    let headers = response["headers"].as_object().unwrap_or_else(|| panic!("not a response: {response}"));
    let mut headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.as_str().unwrap().parse().unwrap()))
        .collect();
    headers.insert(REQUEST_ID, invoked.headers[REQUEST_ID].clone());
    let status = u16::try_from(response["statusCode"].as_u64().unwrap()).unwrap();
    let text = response["body"].as_str().unwrap().to_owned();
    Response { status: status.try_into().unwrap(), headers, text }
}

/// Invokes `function` with the event `payload`, and returns the response of the Invoke API.
pub(crate) async fn invoke(cloud: &Cloud, function: &str, payload: String) -> Response {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let uri = format!("{}/2015-03-31/functions/{function}/invocations", cloud.lambda_url());
    let request = Request::post(uri).body(Full::from(payload)).unwrap();
    Response::read(client.request(request).await.unwrap()).await
}
