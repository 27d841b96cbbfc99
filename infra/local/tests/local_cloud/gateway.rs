//! Authorizer, stage cache and compression, in cases that requests to the service (`tests/service/access`) do
//! not reach. The parrot is both authorizer and function (`examples/parrot.rs`).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use local::{Cloud, LineSink, Options};
use serde_json::{Value, json};

use crate::support::{Response, send, value_of};

const TEMPLATE: &str = r#"
Parameters:
  GatewayCache: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
Conditions:
  CacheIsOn: !Equals [!Ref GatewayCache, 'on']
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      MinimumCompressionSize: 200
      CacheClusterEnabled: !If [CacheIsOn, true, false]
      MethodSettings:
        - {ResourcePath: /*, HttpMethod: '*', CachingEnabled: false}
        - {ResourcePath: '/~1v1~1kept', HttpMethod: GET, CachingEnabled: true, CacheTtlInSeconds: 300}
      ApiKeySourceType: AUTHORIZER
      Auth:
        DefaultAuthorizer: Keys
        ApiKeyRequired: true
        Authorizers:
          Keys:
            FunctionPayloadType: REQUEST
            FunctionArn: !GetAtt KeyFunction.Arn
            Identity: {Headers: [X-API-Key], ReauthorizeEvery: 60}
      GatewayResponses:
        ACCESS_DENIED: {ResponseTemplates: {application/json: '{"type":"ACCESS_DENIED"}'}}
        AUTHORIZER_FAILURE: {ResponseTemplates: {application/json: '{"type":"AUTHORIZER_FAILURE"}'}}
        DEFAULT_4XX: {ResponseTemplates: {application/json: '{"type":"DEFAULT_4XX"}'}}
  KeyFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties:
      Events:
        Plain: {Type: Api, Properties: {Method: GET, Path: /v1/plain}}
        Other: {Type: Api, Properties: {Method: GET, Path: /v1/other}}
        Posted: {Type: Api, Properties: {Method: POST, Path: /v1/plain}}
        Kept:
          Type: Api
          Properties:
            Method: GET
            Path: /v1/kept
            RequestParameters:
              - method.request.querystring.say: {Required: false, Caching: true}
              - method.request.querystring.mode: {Required: false, Caching: true}
              - method.request.header.Accept-Language: {Required: false, Caching: true}
  ProPlan:
    Type: AWS::ApiGateway::UsagePlan
    Properties: {Tags: [{Key: tier, Value: pro}]}
"#;

fn options(test: &str, template: &str) -> Options {
    let parameters = [("GatewayCache".to_owned(), "on".to_owned())].into();
    Options { parameters, ..crate::support::options(test, template) }
}

async fn start(test: &str) -> Cloud {
    let cloud = Cloud::start(options(test, TEMPLATE)).await.unwrap();
    cloud.attach_key("pro", &value_of("pro-1")).unwrap();
    cloud
}

async fn request(cloud: &Cloud, request: &str, headers: &[(&str, &str)]) -> Response {
    let lines: String = headers.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
    let text = format!("{request} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{lines}\r\n");
    send(&cloud.url(), text.as_bytes()).await
}

async fn get(cloud: &Cloud, target: &str, key: &str) -> Response {
    request(cloud, &format!("GET {target}"), &[("x-api-key", key)]).await
}

#[tokio::test]
async fn the_authorizers_response_decides_and_the_log_has_no_key() {
    let cloud = start("said").await;
    let response = get(&cloud, "/v1/plain", "pro-1").await;
    assert_eq!(response.status, 200, "{}", response.body);
    let context = &response.json()["requestContext"];
    assert_eq!(context["authorizer"], json!({"tier": "pro", "invocations": "1", "principalId": "someone"}));
    assert_eq!(context["identity"]["apiKey"], value_of("pro-1"));
    for (key, status, body) in [
        ("lapsed-\"gdsecret\"", 403, json!({"type": "ACCESS_DENIED"})),
        ("fail-\"gdsecret\"", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        ("null-\"gdsecret\"", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        ("crash-\"gdsecret\"", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        // API Gateway has no such key.
        ("other-1", 403, json!({"type": "DEFAULT_4XX"})),
    ] {
        let response = get(&cloud, "/v1/plain", key).await;
        assert_eq!((response.status, response.json()), (status, body), "{key}");
    }
    assert_eq!(get(&cloud, "/v1/plain", "nobody-\"gdsecret\"").await.status, 401);
    // The policy is for GET only.
    let posted = request(&cloud, "POST /v1/plain", &[("x-api-key", "pro-1"), ("content-length", "0")]).await;
    assert_eq!(posted.status, 403);
    // A cached policy is evaluated again for another method. The policy allows the first method, but API
    // Gateway has no such key.
    for (path, body) in [("/v1/plain", "DEFAULT_4XX"), ("/v1/other", "ACCESS_DENIED")] {
        assert_eq!(get(&cloud, path, "once-1").await.json()["type"], body);
    }
    let lines: Vec<_> = cloud.logs().into_iter().filter(|line| line.starts_with("local: parrot: ")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, reason) in lines.iter().zip(["cannot look up …", "invalid at .", "exit status: 7"]) {
        assert!(line.contains(reason), "{line}");
    }
    assert!(cloud.logs().iter().all(|line| !line.contains("gdsecret")), "{:?}", cloud.logs());
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_access_log_has_one_line_per_request_without_its_query_and_names_the_source() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let sink: LineSink = Arc::new(move |line: &str| taken.lock().unwrap().push(line.to_owned()));
    let cloud =
        Cloud::start(Options { access_log: Some(sink), ..options("sources", TEMPLATE) }).await.unwrap();
    cloud.attach_key("pro", &value_of("pro-gdsecret")).unwrap();
    let requests = [
        ("/v1/plain", "", "401", "gateway"),
        ("/v1/plain", "nobody-gdsecret", "401", "authorizer"),
        ("/v1/plain", "lapsed-gdsecret", "403", "authorizer"),
        ("/v1/plain", "fail-gdsecret", "500", "authorizer"),
        ("/v1/plain", "other-gdsecret", "403", "gateway"),
        ("/a%1B[31m", "pro-gdsecret", "403", "gateway"),
        ("/v1/kept", "pro-gdsecret", "200", "parrot"),
        ("/v1/kept", "pro-gdsecret", "200", "cache"),
        ("/v1/plain", "pro-gdsecret", "200", "parrot"),
    ];
    for (path, key, _, _) in requests {
        get(&cloud, &format!("{path}?key=gdsecret"), key).await;
    }
    cloud.shutdown().await;
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), requests.len(), "{lines:?}");
    for (line, (path, _, status, source)) in lines.iter().zip(requests) {
        assert!(line.starts_with(&format!("GET {path} {status} ")), "{line}");
        assert!(line.ends_with(&format!(" bytes {source}")), "{line}");
    }
}

#[tokio::test]
async fn a_response_is_compressed_on_request_and_cached_uncompressed() {
    let cloud = start("compressed").await;
    let encodings = [
        ("gzip", true),
        ("br, GZIP; q=0.5", true),
        ("*", true),
        ("", false),
        ("deflate", false),
        ("br, identity", false),
        ("*;q=0", false),
        ("gzip;q=0, deflate;q=0.1", false),
    ];
    let mut bodies = Vec::new();
    for (encoding, is_encoded) in encodings {
        let headers = [("x-api-key", "pro-1"), ("accept-encoding", encoding)];
        let response = request(&cloud, "GET /v1/kept", &headers).await;
        let encoded = response.head.contains("content-encoding: gzip\r\n");
        assert_eq!(encoded, is_encoded, "{}", response.head);
        let length = response.head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert_eq!(length.parse::<usize>().unwrap() < response.body.len(), is_encoded);
        bodies.push(response.body);
    }
    assert!(bodies.windows(2).all(|two| two[0] == two[1]), "the bodies differ");
    let event: Value = serde_json::from_str(&bodies[0]).unwrap();
    assert_eq!(event["headers"]["accept-encoding"], "gzip");
    // This response is too small to be compressed.
    let headers = [("accept-encoding", "gzip")];
    let refused = request(&cloud, "GET /v1/kept", &headers).await;
    assert!(!refused.head.contains("content-encoding"), "{}", refused.head);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_header_in_the_cache_key_is_compared_without_case_by_its_last_value() {
    let cloud = start("header").await;
    let kept = async |languages: &[(&str, &str)]| {
        let headers = [&[("x-api-key", "pro-1")], languages].concat();
        request(&cloud, "GET /v1/kept", &headers).await.json()["requestContext"]["requestId"].take()
    };
    let english = kept(&[("Accept-Language", "en")]).await;
    let german = kept(&[("Accept-Language", "de")]).await;
    let absent = kept(&[]).await;
    let empty = kept(&[("Accept-Language", "")]).await;
    let requests = BTreeSet::from([&english, &german, &absent, &empty].map(Value::to_string));
    assert_eq!(requests.len(), 4, "{requests:?}");
    assert_eq!(kept(&[("ACCEPT-language", "en")]).await, english);
    assert_eq!(kept(&[("accept-language", "en"), ("accept-language", "de")]).await, german);
    assert_eq!(kept(&[]).await, absent);
    cloud.shutdown().await;
}
