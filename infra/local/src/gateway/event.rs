//! Builds the events that API Gateway sends to functions: for the proxy integration of a REST API (format 1.0), and for
//! an authorizer of type `REQUEST`, which has most fields in common with it.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::request::{API_ID, Caller, GatewayRequest, MatchedRoute};
use crate::arn::ACCOUNT_ID;

const DOMAIN: &str = "localcloud.execute-api.localhost";

/// The event for the route's function.
pub(super) fn for_integration(
    request: &GatewayRequest<'_>,
    matched: &MatchedRoute<'_>,
    caller: Caller<'_>,
) -> Bytes {
    let body = (!request.body.is_empty()).then(|| String::from_utf8_lossy(request.body));
    let mut event = event(request, matched, caller);
    event.insert("body".to_owned(), json!(body));
    event.insert("isBase64Encoded".to_owned(), json!(false));
    Bytes::from(Value::Object(event).to_string())
}

/// The event for an authorizer's function.
pub(super) fn for_authorizer(request: &GatewayRequest<'_>, matched: &MatchedRoute<'_>) -> Bytes {
    let mut event = event(request, matched, Caller::default());
    event.insert("type".to_owned(), json!("REQUEST"));
    event.insert("methodArn".to_owned(), json!(request.method_arn()));
    Bytes::from(Value::Object(event).to_string())
}

fn event(request: &GatewayRequest<'_>, matched: &MatchedRoute<'_>, caller: Caller<'_>) -> Map<String, Value> {
    let MatchedRoute { route, path_parameters, query } = matched;
    let headers = headers(request);
    let user_agent = headers.get("User-Agent").and_then(|values| values.last());
    let mut identity = json!({
        "cognitoIdentityPoolId": null,
        "accountId": null,
        "cognitoIdentityId": null,
        "caller": null,
        "sourceIp": request.client.ip().to_string(),
        "principalOrgId": null,
        "accessKey": null,
        "cognitoAuthenticationType": null,
        "cognitoAuthenticationProvider": null,
        "userArn": null,
        "userAgent": user_agent,
        "user": null,
    });
    if let (Some(key), Some(identity)) = (caller.api_key, identity.as_object_mut()) {
        identity.insert("apiKey".to_owned(), json!(key));
    }
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
        "identity": identity,
        "domainName": DOMAIN,
        "deploymentId": "local",
        "apiId": API_ID,
    });
    if let (Some(authorization), Some(context)) = (caller.authorization, context.as_object_mut()) {
        context.insert("authorizer".to_owned(), json!(authorization.for_function()));
    }
    Map::from_iter([
        ("resource".to_owned(), json!(route.path)),
        ("path".to_owned(), json!(request.path())),
        ("httpMethod".to_owned(), json!(request.method())),
        ("headers".to_owned(), json!(last_values(&headers))),
        ("multiValueHeaders".to_owned(), json!(headers)),
        ("queryStringParameters".to_owned(), null_if_empty(&last_values(query))),
        ("multiValueQueryStringParameters".to_owned(), null_if_empty(query)),
        ("pathParameters".to_owned(), null_if_empty(path_parameters)),
        ("stageVariables".to_owned(), Value::Null),
        ("requestContext".to_owned(), context),
    ])
}

fn null_if_empty<Name: serde::Serialize + Ord, Entry: serde::Serialize>(
    values: &BTreeMap<Name, Entry>,
) -> Value {
    if values.is_empty() { Value::Null } else { json!(values) }
}

fn last_values(values: &BTreeMap<String, Vec<String>>) -> BTreeMap<&str, &str> {
    values.iter().filter_map(|(name, values)| Some((name.as_str(), values.last()?.as_str()))).collect()
}

/// The request's headers without hop-by-hop ones, and with those that the gateway adds.
fn headers(request: &GatewayRequest<'_>) -> BTreeMap<String, Vec<String>> {
    let sent = &request.parts.headers;
    let mut headers = BTreeMap::<String, Vec<String>>::new();
    for name in sent.keys().filter(|name| !is_hop_by_hop(name)) {
        headers.insert(spelling(name).to_owned(), values(sent, name));
    }
    headers.entry("X-Amzn-Trace-Id".to_owned()).or_insert_with(|| {
        let id = request.request_id.simple().to_string();
        vec![format!("Root=1-{:08x}-{}", request.now_ms / 1000, id.get(..24).unwrap_or_default())]
    });
    let hops = headers.remove("X-Forwarded-For").unwrap_or_default();
    let hops = hops.into_iter().chain([request.client.ip().to_string()]).collect::<Vec<_>>().join(", ");
    headers.insert("X-Forwarded-For".to_owned(), vec![hops]);
    headers.insert("X-Forwarded-Port".to_owned(), vec!["80".to_owned()]);
    headers.insert("X-Forwarded-Proto".to_owned(), vec!["http".to_owned()]);
    headers
}

fn values(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        *name,
        header::CONNECTION
            | header::EXPECT
            | header::PROXY_AUTHORIZATION
            | header::TE
            | header::TRAILER
            | header::TRANSFER_ENCODING
            | header::UPGRADE
    ) || name == "keep-alive"
        || name == "proxy-connection"
}

/// The gateway's spelling of the headers that it sets. Others arrive as sent, which is in lower case over HTTP/2.
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

#[cfg(test)]
mod tests {
    use hyper::Request;
    use hyper::http::request::Builder;

    use super::super::request::parse_query;
    use super::*;
    use crate::template::Route;

    fn event(request: Builder, body: &[u8], parameters: &[(&str, &str)]) -> Value {
        built(request, parameters, |request, matched| {
            for_integration(&GatewayRequest { body, ..*request }, matched, Caller::default())
        })
    }

    fn built(
        request: Builder,
        parameters: &[(&str, &str)],
        build: impl Fn(&GatewayRequest<'_>, &MatchedRoute<'_>) -> Bytes,
    ) -> Value {
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let route = Route { path: "/v1/bazaar".to_owned(), ..Route::default() };
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let matched = MatchedRoute {
            route: &route,
            path_parameters: parameters.collect(),
            query: parse_query(parts.uri.query().unwrap_or_default()),
        };
        serde_json::from_slice(&build(&GatewayRequest::for_tests(&parts), &matched)).unwrap()
    }

    fn keys(value: &Value) -> String {
        value.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// All keys of the event that AWS documents for a request without an authorizer.
    #[test]
    fn the_event_has_the_documented_shape() {
        let request = Request::get("/v1/bazaar?mode=flips&limit=50")
            .header("host", "127.0.0.1:3000")
            .header("user-agent", "price-watcher/1.4")
            .header("connection", "keep-alive")
            .header("x-api-key", "k");
        let mut event = event(request, b"", &[]);
        let context = event["requestContext"].take();
        assert_eq!(context["requestId"].as_str().unwrap().len(), 36);
        assert_eq!(context["requestTime"], "28/Apr/2026:15:03:20 +0000");
        assert_eq!(context["requestTimeEpoch"], 1_777_388_600_000_i64);
        assert_eq!(context["path"], "/live/v1/bazaar");
        assert_eq!(context["identity"]["sourceIp"], "127.0.0.1");
        assert_eq!(context["identity"]["userAgent"], "price-watcher/1.4");
        assert_eq!(
            keys(&context),
            "accountId apiId deploymentId domainName domainPrefix extendedRequestId httpMethod identity path \
             protocol requestId requestTime requestTimeEpoch resourceId resourcePath stage"
        );
        let trace = event["headers"]["X-Amzn-Trace-Id"].clone();
        let headers = json!({
            "Host": "127.0.0.1:3000",
            "User-Agent": "price-watcher/1.4",
            "X-Amzn-Trace-Id": trace,
            "X-Forwarded-For": "127.0.0.1",
            "X-Forwarded-Port": "80",
            "X-Forwarded-Proto": "http",
            "x-api-key": "k",
        });
        let lists = headers.as_object().unwrap().iter().map(|(name, value)| (name.clone(), json!([value])));
        assert_eq!(
            event,
            json!({
                "resource": "/v1/bazaar",
                "path": "/v1/bazaar",
                "httpMethod": "GET",
                "headers": headers,
                "multiValueHeaders": lists.collect::<Map<_, _>>(),
                "queryStringParameters": {"mode": "flips", "limit": "50"},
                "multiValueQueryStringParameters": {"mode": ["flips"], "limit": ["50"]},
                "pathParameters": null,
                "stageVariables": null,
                "requestContext": null,
                "body": null,
                "isBase64Encoded": false,
            })
        );
    }

    /// All keys of the event that AWS documents for an authorizer.
    #[test]
    fn an_authorizers_event_is_the_request_without_its_body() {
        let request = Request::get("/v1/bazaar/?mode=flips").header("x-api-key", "k");
        let event = built(request, &[("username", "a")], |request, matched| {
            for_authorizer(&GatewayRequest { body: b"body", ..*request }, matched)
        });
        assert_eq!(
            keys(&event),
            "headers httpMethod methodArn multiValueHeaders multiValueQueryStringParameters path pathParameters \
             queryStringParameters requestContext resource stageVariables type"
        );
        assert_eq!(event["type"], "REQUEST");
        let arn = "arn:aws:execute-api:eu-central-1:123456789012:localcloud/live/GET/v1/bazaar/";
        assert_eq!(event["methodArn"], arn);
        assert_eq!((&event["resource"], &event["path"]), (&json!("/v1/bazaar"), &json!("/v1/bazaar/")));
        assert_eq!(event["headers"]["x-api-key"], "k");
        assert_eq!(event["pathParameters"], json!({"username": "a"}));
    }

    #[test]
    fn invalid_utf8_is_replaced_and_earlier_hops_are_kept() {
        let header = hyper::header::HeaderValue::from_bytes(b"a\xffb").unwrap();
        let request = Request::post("/").header("x-raw", header).header("x-forwarded-for", "203.0.113.7");
        let event = event(request, b"{\xff}", &[]);
        assert_eq!(event["headers"]["x-raw"], "a\u{fffd}b");
        assert_eq!(event["body"], "{\u{fffd}}");
        assert_eq!(event["headers"]["X-Forwarded-For"], "203.0.113.7, 127.0.0.1");
    }
}
