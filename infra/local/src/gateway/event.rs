//! Builds the events that API Gateway hands to functions: of a proxy integration of a REST API, format 1.0, and of an
//! authorizer that gets the request, which has most in common with it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use hyper::http::request::Parts;
use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::authorizer::Permit;
use super::routing::PathParameters;
use crate::template::Route;

pub(super) const API_ID: &str = "localcloud";
pub(super) const DOMAIN: &str = "localcloud.execute-api.localhost";
pub(super) const PROTOCOL: &str = "HTTP/1.1";

/// What the gateway knows about a request.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'request> {
    pub(super) request: &'request Parts,
    pub(super) body: &'request [u8],
    pub(super) peer: SocketAddr,
    pub(super) request_id: Uuid,
    pub(super) now_ms: i64,
    pub(super) stage: &'request str,
}

#[cfg(test)]
impl<'request> Arrival<'request> {
    /// Some request's arrival.
    pub(super) fn for_tests(request: &'request Parts) -> Self {
        Self {
            request,
            body: b"",
            peer: "127.0.0.1:50000".parse().unwrap(),
            request_id: Uuid::new_v4(),
            now_ms: 1_777_388_600_000,
            stage: "live",
        }
    }
}

/// The route that a request is for, and what it says to it.
pub(super) struct Matched<'request> {
    pub(super) route: &'request Route,
    pub(super) path_parameters: PathParameters,
    /// All values of every parameter, in their order.
    pub(super) query: BTreeMap<String, Vec<String>>,
}

/// What the gateway has found out about who asks.
#[derive(Clone, Copy, Default)]
pub(super) struct Caller<'request> {
    /// What the route's authorizer said.
    pub(super) permit: Option<&'request Permit>,
    /// The key of a usage plan, where the route takes one.
    pub(super) api_key: Option<&'request str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'request> {
    resource: &'request str,
    path: &'request str,
    http_method: &'request str,
    headers: BTreeMap<&'request str, &'request str>,
    multi_value_headers: &'request BTreeMap<String, Vec<String>>,
    query_string_parameters: Option<BTreeMap<&'request str, &'request str>>,
    multi_value_query_string_parameters: Option<&'request BTreeMap<String, Vec<String>>>,
    path_parameters: Option<&'request PathParameters>,
    stage_variables: Option<()>,
    request_context: RequestContext<'request>,
    #[serde(flatten)]
    rest: Rest<'request>,
}

/// What only one kind of event has.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Rest<'request> {
    Proxy {
        body: Option<String>,
        is_base64_encoded: bool,
    },
    Authorizer {
        #[serde(rename = "type")]
        kind: &'static str,
        method_arn: &'request str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext<'request> {
    resource_id: String,
    resource_path: &'request str,
    http_method: &'request str,
    extended_request_id: String,
    request_time: String,
    path: String,
    account_id: &'static str,
    protocol: &'static str,
    stage: &'request str,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorizer: Option<BTreeMap<&'request str, &'request str>>,
    domain_prefix: &'static str,
    request_time_epoch: i64,
    request_id: String,
    identity: Identity<'request>,
    domain_name: &'static str,
    deployment_id: &'static str,
    api_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'request> {
    cognito_identity_pool_id: Option<()>,
    account_id: Option<()>,
    cognito_identity_id: Option<()>,
    caller: Option<()>,
    source_ip: String,
    principal_org_id: Option<()>,
    access_key: Option<()>,
    cognito_authentication_type: Option<()>,
    cognito_authentication_provider: Option<()>,
    user_arn: Option<()>,
    user_agent: Option<&'request str>,
    user: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<&'request str>,
}

/// The bytes of the event for the route's function.
///
/// # Errors
/// None that could happen; the serializer does not know that.
pub(super) fn for_integration(
    arrival: &Arrival<'_>,
    matched: &Matched<'_>,
    caller: Caller<'_>,
) -> serde_json::Result<Bytes> {
    let body = (!arrival.body.is_empty()).then(|| String::from_utf8_lossy(arrival.body).into_owned());
    build(arrival, matched, caller, Rest::Proxy { body, is_base64_encoded: false })
}

/// The bytes of the event for an authorizer's function.
///
/// # Errors
/// None that could happen; the serializer does not know that.
pub(super) fn for_authorizer(
    arrival: &Arrival<'_>,
    matched: &Matched<'_>,
    method_arn: &str,
) -> serde_json::Result<Bytes> {
    build(arrival, matched, Caller::default(), Rest::Authorizer { kind: "REQUEST", method_arn })
}

/// What policies call the method that is asked for: with the path as it was sent.
pub(super) fn method_arn(arrival: &Arrival<'_>) -> String {
    let (region, account, stage) = (crate::REGION, crate::ACCOUNT_ID, arrival.stage);
    let (method, path) = (&arrival.request.method, arrival.request.uri.path());
    let path = path.strip_prefix('/').unwrap_or(path);
    format!("arn:aws:execute-api:{region}:{account}:{API_ID}/{stage}/{method}/{path}")
}

fn build(
    arrival: &Arrival<'_>,
    matched: &Matched<'_>,
    caller: Caller<'_>,
    rest: Rest<'_>,
) -> serde_json::Result<Bytes> {
    let Matched { route, path_parameters, query } = matched;
    let path = arrival.request.uri.path();
    let method = arrival.request.method.as_str();
    let headers = headers(arrival);
    let user_agent = headers.get("User-Agent").and_then(|values| values.last()).map(String::as_str);
    let event = Event {
        resource: &route.path,
        path,
        http_method: method,
        headers: last_values(&headers),
        multi_value_headers: &headers,
        query_string_parameters: (!query.is_empty()).then(|| last_values(query)),
        multi_value_query_string_parameters: (!query.is_empty()).then_some(query),
        path_parameters: (!path_parameters.is_empty()).then_some(path_parameters),
        stage_variables: None,
        request_context: RequestContext {
            resource_id: format!("{method} {}", route.path),
            resource_path: &route.path,
            http_method: method,
            extended_request_id: extended_request_id(arrival),
            request_time: request_time(arrival.now_ms),
            path: path_with_stage(arrival),
            account_id: crate::ACCOUNT_ID,
            protocol: PROTOCOL,
            stage: arrival.stage,
            authorizer: caller.permit.map(authorizer),
            domain_prefix: API_ID,
            request_time_epoch: arrival.now_ms,
            identity: Identity {
                cognito_identity_pool_id: None,
                account_id: None,
                cognito_identity_id: None,
                caller: None,
                source_ip: arrival.peer.ip().to_string(),
                principal_org_id: None,
                access_key: None,
                cognito_authentication_type: None,
                cognito_authentication_provider: None,
                user_arn: None,
                user_agent,
                user: None,
                api_key: caller.api_key,
            },
            domain_name: DOMAIN,
            deployment_id: "local",
            api_id: API_ID,
            request_id: arrival.request_id.to_string(),
        },
        rest,
    };
    serde_json::to_vec(&event).map(Bytes::from)
}

/// What the authorizer said, as functions get to know it.
fn authorizer(permit: &Permit) -> BTreeMap<&str, &str> {
    let context = permit.context.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    context.chain([("principalId", permit.principal_id.as_str())]).collect()
}

/// The request's headers without those of the connection, and with those that the gateway adds.
fn headers(arrival: &Arrival<'_>) -> BTreeMap<String, Vec<String>> {
    let given = &arrival.request.headers;
    let mut headers = BTreeMap::<String, Vec<String>>::new();
    for name in given.keys().filter(|name| !is_of_the_connection(name)) {
        headers.insert(spelling(name).to_owned(), texts(given, name));
    }
    headers.entry("X-Amzn-Trace-Id".to_owned()).or_insert_with(|| {
        let id = arrival.request_id.simple().to_string();
        vec![format!("Root=1-{:08x}-{}", arrival.now_ms / 1000, id.get(..24).unwrap_or_default())]
    });
    let hops = headers.remove("X-Forwarded-For").unwrap_or_default();
    let hops = hops.into_iter().chain([arrival.peer.ip().to_string()]).collect::<Vec<_>>().join(", ");
    headers.insert("X-Forwarded-For".to_owned(), vec![hops]);
    headers.insert("X-Forwarded-Port".to_owned(), vec!["80".to_owned()]);
    headers.insert("X-Forwarded-Proto".to_owned(), vec!["http".to_owned()]);
    headers
}

fn texts(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

fn is_of_the_connection(name: &HeaderName) -> bool {
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

/// The gateway's own spelling of the headers that it writes itself; others come as clients send them, which over HTTP/2
/// is in lower case.
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

/// The parameters of a query, each with all of its values.
pub(super) fn query(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut query = BTreeMap::<String, Vec<String>>::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        query.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    query
}

fn last_values(values: &BTreeMap<String, Vec<String>>) -> BTreeMap<&str, &str> {
    values.iter().filter_map(|(name, values)| Some((name.as_str(), values.last()?.as_str()))).collect()
}

pub(super) fn extended_request_id(arrival: &Arrival<'_>) -> String {
    format!("{}=", arrival.request_id.to_string().get(..15).unwrap_or_default())
}

pub(super) fn path_with_stage(arrival: &Arrival<'_>) -> String {
    format!("/{}{}", arrival.stage, arrival.request.uri.path())
}

/// As in a web server's log: `28/Apr/2026:15:03:20 +0000`.
pub(super) fn request_time(now_ms: i64) -> String {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    now.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use serde_json::{Value, json};

    use super::*;

    fn event(request: hyper::http::request::Builder, body: &[u8], parameters: &[(&str, &str)]) -> Value {
        built(request, parameters, |arrival, matched| {
            for_integration(&Arrival { body, ..*arrival }, matched, Caller::default())
        })
    }

    fn built(
        request: hyper::http::request::Builder,
        parameters: &[(&str, &str)],
        build: impl Fn(&Arrival<'_>, &Matched<'_>) -> serde_json::Result<Bytes>,
    ) -> Value {
        let (request, ()) = request.body(()).unwrap().into_parts();
        let route = Route {
            method: "GET".to_owned(),
            path: "/v1/bazaar".to_owned(),
            function: "BazaarFunction".to_owned(),
            ..Route::default()
        };
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let matched = Matched {
            route: &route,
            path_parameters: parameters.collect(),
            query: query(request.uri.query().unwrap_or_default()),
        };
        serde_json::from_slice(&build(&Arrival::for_tests(&request), &matched).unwrap()).unwrap()
    }

    /// Every key of the documented event, by hand: what AWS sends for a request without an authorizer.
    #[test]
    fn the_event_has_the_shape_of_the_real_one() {
        let request = Request::get("/v1/bazaar?mode=flips&limit=50")
            .header("host", "127.0.0.1:3000")
            .header("user-agent", "price-watcher/1.4")
            .header("connection", "keep-alive")
            .header("x-api-key", "k");
        let mut event = event(request, b"", &[]);
        let context = event["requestContext"].take();
        let request_id = context["requestId"].as_str().unwrap();
        assert_eq!(request_id.len(), 36);
        assert_eq!(context["requestTime"], "28/Apr/2026:15:03:20 +0000");
        assert_eq!(context["requestTimeEpoch"], 1_777_388_600_000_i64);
        assert_eq!(context["path"], "/live/v1/bazaar");
        assert_eq!(context["identity"]["sourceIp"], "127.0.0.1");
        assert_eq!(context["identity"]["userAgent"], "price-watcher/1.4");
        let keys: Vec<&str> = context.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "accountId",
                "apiId",
                "deploymentId",
                "domainName",
                "domainPrefix",
                "extendedRequestId",
                "httpMethod",
                "identity",
                "path",
                "protocol",
                "requestId",
                "requestTime",
                "requestTimeEpoch",
                "resourceId",
                "resourcePath",
                "stage"
            ]
        );
        let trace = event["headers"]["X-Amzn-Trace-Id"].clone();
        assert_eq!(
            event,
            json!({
                "resource": "/v1/bazaar",
                "path": "/v1/bazaar",
                "httpMethod": "GET",
                "headers": {
                    "Host": "127.0.0.1:3000",
                    "User-Agent": "price-watcher/1.4",
                    "X-Amzn-Trace-Id": trace,
                    "X-Forwarded-For": "127.0.0.1",
                    "X-Forwarded-Port": "80",
                    "X-Forwarded-Proto": "http",
                    "x-api-key": "k",
                },
                "multiValueHeaders": {
                    "Host": ["127.0.0.1:3000"],
                    "User-Agent": ["price-watcher/1.4"],
                    "X-Amzn-Trace-Id": [trace],
                    "X-Forwarded-For": ["127.0.0.1"],
                    "X-Forwarded-Port": ["80"],
                    "X-Forwarded-Proto": ["http"],
                    "x-api-key": ["k"],
                },
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

    #[test]
    fn a_function_gets_to_know_what_the_authorizer_said() {
        let mut permit = Permit::for_tests(Some("pro"), None);
        permit.context.insert("count".to_owned(), "2".to_owned());
        let caller = Caller { permit: Some(&permit), api_key: Some("0123456789abcdefghij") };
        let event = built(Request::get("/v1/bazaar"), &[], |arrival, matched| {
            for_integration(arrival, matched, caller)
        });
        let context = &event["requestContext"];
        let expected = json!({"tier": "pro", "count": "2", "principalId": "someone"});
        assert_eq!(context["authorizer"], expected);
        assert_eq!(context["identity"]["apiKey"], "0123456789abcdefghij");
    }

    /// Every key of the documented event of an authorizer, by hand.
    #[test]
    fn an_authorizers_event_is_the_request_without_its_body() {
        let request = Request::get("/v1/bazaar/?mode=flips").header("x-api-key", "k");
        let event = built(request, &[("username", "a")], |arrival, matched| {
            for_authorizer(&Arrival { body: b"body", ..*arrival }, matched, &method_arn(arrival))
        });
        let keys: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "headers",
                "httpMethod",
                "methodArn",
                "multiValueHeaders",
                "multiValueQueryStringParameters",
                "path",
                "pathParameters",
                "queryStringParameters",
                "requestContext",
                "resource",
                "stageVariables",
                "type"
            ]
        );
        assert_eq!(event["type"], "REQUEST");
        let arn = "arn:aws:execute-api:eu-central-1:123456789012:localcloud/live/GET/v1/bazaar/";
        assert_eq!(event["methodArn"], arn);
        assert_eq!((&event["resource"], &event["path"]), (&json!("/v1/bazaar"), &json!("/v1/bazaar/")));
        assert_eq!(event["headers"]["x-api-key"], "k");
        assert_eq!(event["pathParameters"], json!({"username": "a"}));
        assert_eq!(event["requestContext"].get("authorizer"), None);
        assert_eq!(event["requestContext"]["requestTimeEpoch"], 1_777_388_600_000_i64);
    }

    #[test]
    fn of_repeated_values_all_are_kept_and_the_last_one_counts() {
        let request =
            Request::get("/v1/bazaar?id=a+b&id=%FF&id=c%26d&empty&=x").header("x-k", "1").header("x-k", "2");
        let event = event(request, b"", &[]);
        assert_eq!(event["multiValueQueryStringParameters"]["id"], json!(["a b", "\u{fffd}", "c&d"]));
        assert_eq!(event["queryStringParameters"], json!({"id": "c&d", "empty": "", "": "x"}));
        assert_eq!(event["headers"]["x-k"], "2");
        assert_eq!(event["multiValueHeaders"]["x-k"], json!(["1", "2"]));
    }

    #[test]
    fn the_path_stays_as_sent_and_parameters_stand_beside_it() {
        let event = event(Request::get("/v1/bazaar/%41%20"), b"", &[("username", "A ")]);
        assert_eq!(event["path"], "/v1/bazaar/%41%20");
        assert_eq!(event["pathParameters"], json!({"username": "A "}));
        assert_eq!(event["queryStringParameters"], Value::Null);
    }

    #[test]
    fn what_is_not_utf8_arrives_as_replacement_characters() {
        let header = hyper::header::HeaderValue::from_bytes(b"a\xffb").unwrap();
        let event = event(Request::post("/").header("x-raw", header), b"{\xff}", &[]);
        assert_eq!(event["headers"]["x-raw"], "a\u{fffd}b");
        assert_eq!(event["body"], "{\u{fffd}}");
    }

    #[test]
    fn the_callers_own_hops_come_first() {
        let event = event(Request::get("/").header("x-forwarded-for", "203.0.113.7"), b"", &[]);
        assert_eq!(event["headers"]["X-Forwarded-For"], "203.0.113.7, 127.0.0.1");
    }
}
