//! Builds the events that API Gateway sends to functions: for the proxy integration of a REST API (format
//! 1.0), and for an authorizer of type `REQUEST`. The two events have most fields in common.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::HeaderName;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::request::{API_ID, Caller, GatewayRequest, MatchedRequest, is_hop_by_hop};
use crate::arn::ACCOUNT_ID;

const DOMAIN: &str = "localcloud.execute-api.localhost";

/// The event for the route's function.
pub(super) fn for_integration(matched: &MatchedRequest<'_>, caller: Caller<'_>) -> Bytes {
    let body = matched.request.body;
    let body = (!body.is_empty()).then(|| String::from_utf8_lossy(body));
    let mut event = event(matched, caller);
    insert(&mut event, "body", json!(body));
    insert(&mut event, "isBase64Encoded", json!(false));
    Bytes::from(event.to_string())
}

/// The event for an authorizer's function.
pub(super) fn for_authorizer(matched: &MatchedRequest<'_>) -> Bytes {
    let mut event = event(matched, Caller::default());
    insert(&mut event, "type", json!("REQUEST"));
    insert(&mut event, "methodArn", json!(matched.request.method_arn()));
    Bytes::from(event.to_string())
}

fn event(matched: &MatchedRequest<'_>, caller: Caller<'_>) -> Value {
    let MatchedRequest { request, route, path_parameters, query } = matched;
    let headers = headers(request);
    let request_id = request.request_id.to_string();
    let mut context = json!({
        "resourceId": format!("{} {}", request.method(), route.path),
        "resourcePath": route.path,
        "httpMethod": request.method(),
        "extendedRequestId": format!("{}=", request_id.get(..15).unwrap_or_default()),
        "requestTime": request_time(request.now_ms),
        "path": format!("/{}{}", request.stage, request.path()),
        "accountId": ACCOUNT_ID,
        "protocol": "HTTP/1.1",
        "stage": request.stage,
        "domainPrefix": API_ID,
        "requestTimeEpoch": request.now_ms,
        "requestId": request_id,
        "identity": {
            "cognitoIdentityPoolId": null,
            "accountId": null,
            "cognitoIdentityId": null,
            "caller": null,
            "apiKey": caller.api_key,
            "sourceIp": request.client.ip().to_string(),
            "principalOrgId": null,
            "accessKey": null,
            "cognitoAuthenticationType": null,
            "cognitoAuthenticationProvider": null,
            "userArn": null,
            "userAgent": headers.get("User-Agent").and_then(|values| values.last()),
            "user": null,
        },
        "domainName": DOMAIN,
        "deploymentId": "local",
        "apiId": API_ID,
    });
    if let Some(authorization) = caller.authorization {
        insert(&mut context, "authorizer", json!(authorization.for_function()));
    }
    json!({
        "resource": route.path,
        "path": request.path(),
        "httpMethod": request.method(),
        "headers": last_values(&headers),
        "multiValueHeaders": headers,
        "queryStringParameters": null_if_empty(&last_values(query)),
        "multiValueQueryStringParameters": null_if_empty(query),
        "pathParameters": null_if_empty(path_parameters),
        "stageVariables": null,
        "requestContext": context,
    })
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(entries) = object.as_object_mut() {
        entries.insert(name.to_owned(), value);
    }
}

fn null_if_empty<Name: serde::Serialize + Ord, Entry: serde::Serialize>(
    values: &BTreeMap<Name, Entry>,
) -> Value {
    if values.is_empty() { Value::Null } else { json!(values) }
}

fn last_values(values: &BTreeMap<String, Vec<String>>) -> BTreeMap<&str, &str> {
    values.iter().filter_map(|(name, values)| Some((name.as_str(), values.last()?.as_str()))).collect()
}

/// The request's headers without hop-by-hop headers, and the headers that the gateway adds.
fn headers(request: &GatewayRequest<'_>) -> BTreeMap<String, Vec<String>> {
    let sent = &request.parts.headers;
    let mut headers = BTreeMap::<String, Vec<String>>::new();
    for name in sent.keys().filter(|name| !is_hop_by_hop(name)) {
        let values =
            sent.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        headers.insert(spelling(name).to_owned(), values.collect());
    }
    headers.entry("X-Amzn-Trace-Id".to_owned()).or_insert_with(|| {
        let id = request.request_id.simple().to_string();
        vec![format!("Root=1-{:08x}-{}", request.now_ms / 1000, id.get(..24).unwrap_or_default())]
    });
    let mut hops = headers.remove("X-Forwarded-For").unwrap_or_default();
    hops.push(request.client.ip().to_string());
    headers.insert("X-Forwarded-For".to_owned(), vec![hops.join(", ")]);
    headers.insert("X-Forwarded-Port".to_owned(), vec!["80".to_owned()]);
    headers.insert("X-Forwarded-Proto".to_owned(), vec!["http".to_owned()]);
    headers
}

/// The gateway's spelling of the headers that it sets. On AWS, other headers keep the client's spelling.
/// Here, they are in lower case, as from an HTTP/2 client.
fn spelling(name: &HeaderName) -> &str {
    match name.as_str() {
        "host" => "Host",
        "user-agent" => "User-Agent",
        "x-amzn-trace-id" => "X-Amzn-Trace-Id",
        "x-forwarded-for" => "X-Forwarded-For",
        "x-forwarded-port" => "X-Forwarded-Port",
        "x-forwarded-proto" => "X-Forwarded-Proto",
        other => other,
    }
}

/// As in a web server's log: `28/Apr/2026:15:03:20 +0000`.
fn request_time(now_ms: i64) -> String {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    now.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string()
}
