//! What the gateway does before a function is asked, and with what it answers: keys, usage plans, cache and compression.
//! The parrot is authorizer and function (`examples/parrot.rs`).
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use local::{Cloud, Options, Sink};
use serde_json::{Value, json};

use support::{Answer, send};

const TEMPLATE: &str = r#"
Parameters:
  GatewayCache: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
  Dashboard: {Type: String, Default: https://dashboard.example}
  StarterRateLimit: {Type: Number, Default: 0.01}
  StarterBurstLimit: {Type: Number, Default: 3}
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
        AddDefaultAuthorizerToCorsPreflight: false
        ApiKeyRequired: true
        AddApiKeyRequiredToCorsPreflight: false
        Authorizers:
          Keys:
            FunctionPayloadType: REQUEST
            FunctionArn: !GetAtt KeyFunction.Arn
            Identity: {Headers: [X-API-Key], ReauthorizeEvery: 60}
      Cors: {AllowOrigin: "'*'", AllowHeaders: "'X-API-Key'"}
      GatewayResponses:
        UNAUTHORIZED:
          ResponseParameters: {Headers: {Access-Control-Allow-Origin: "'*'"}}
          ResponseTemplates:
            application/json: !Sub '{"get one at":"${Dashboard}","request":"$context.requestId"}'
        ACCESS_DENIED: {ResponseTemplates: {application/json: '{"tier":"$context.authorizer.tier"}'}}
        THROTTLED: {ResponseParameters: {Headers: {Retry-After: "'1'"}}}
        DEFAULT_4XX: {ResponseTemplates: {application/json: '{"type":$context.error.messageString}'}}
        DEFAULT_5XX: {StatusCode: 500, ResponseTemplates: {application/json: '{"type":"$context.error.responseType"}'}}
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
        Open: {Type: Api, Properties: {Method: GET, Path: /open, Auth: {Authorizer: NONE, ApiKeyRequired: false}}}
  StarterPlan:
    Type: AWS::ApiGateway::UsagePlan
    Properties:
      Throttle: {RateLimit: !Ref StarterRateLimit, BurstLimit: !Ref StarterBurstLimit}
      Tags: [{Key: tier, Value: starter}]
  ProPlan:
    Type: AWS::ApiGateway::UsagePlan
    Properties: {Tags: [{Key: tier, Value: pro}]}
"#;

/// Options for a cloud with a cache.
fn options(test: &str, template: &str) -> Options {
    let parameters = [("GatewayCache".to_owned(), "on".to_owned())].into();
    Options { parameters, ..support::options(test, template) }
}

async fn start(test: &str) -> Cloud {
    Cloud::start(options(test, TEMPLATE)).await.unwrap()
}

async fn request(cloud: &Cloud, request: &str, headers: &[(&str, &str)]) -> Answer {
    let headers: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let text = format!("{request} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}\r\n");
    send(&cloud.url(), text.as_bytes()).await
}

async fn get(cloud: &Cloud, target: &str, key: &str) -> Answer {
    request(cloud, &format!("GET {target}"), &[("x-api-key", key)]).await
}

/// What the authorizer's process has counted, as the function got to know it.
fn asked(answer: &Answer) -> String {
    let event = answer.json();
    event.pointer("/requestContext/authorizer/asked").and_then(Value::as_str).unwrap().to_owned()
}

#[tokio::test]
async fn nobody_gets_in_without_saying_who_asks() {
    let cloud = start("anonymous").await;
    for headers in
        [&[][..], &[("x-api-key", "")], &[("x-api-key", ""), ("X-API-Key", " ")], &[("key", "pro-1")]]
    {
        let answer = request(&cloud, "GET /v1/plain", headers).await;
        assert_eq!(answer.status, 401, "{}", answer.body);
        assert_eq!(answer.json()["get one at"], "https://dashboard.example");
        let request_id = answer.json()["request"].as_str().unwrap().to_owned();
        assert!(answer.head.contains(&format!("x-amzn-requestid: {request_id}")), "{}", answer.head);
        assert!(answer.head.contains("access-control-allow-origin: *"), "{}", answer.head);
    }
    let answer = get(&cloud, "/v1/plain", "pro-1").await;
    assert_eq!((answer.status, asked(&answer).as_str()), (200, "1"), "the function was asked before");
    let open = request(&cloud, "GET /open", &[]).await;
    assert_eq!((open.status, open.json()["requestContext"].get("authorizer")), (200, None));
    let preflight = request(&cloud, "OPTIONS /v1/plain", &[]).await;
    assert_eq!(preflight.status, 200);
    cloud.shutdown().await;
}

#[tokio::test]
async fn what_the_authorizer_says_counts() {
    let cloud = start("said").await;
    let answer = get(&cloud, "/v1/plain", "pro-1").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let context = &answer.json()["requestContext"];
    assert_eq!(context["authorizer"], json!({"tier": "pro", "asked": "1", "principalId": "someone"}));
    assert_eq!(context["identity"]["apiKey"], "0000000000000000000pro-1");
    for (key, status, body) in [
        ("lapsed-1", 403, json!({"tier": "lapsed"})),
        ("fail-1", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        ("null-1", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        ("crash-1", 500, json!({"type": "AUTHORIZER_FAILURE"})),
        // No plan is for such a tier.
        ("other-1", 403, json!({"type": "Forbidden"})),
    ] {
        let answer = get(&cloud, "/v1/plain", key).await;
        assert_eq!((answer.status, answer.json()), (status, body), "{key}");
    }
    assert_eq!(get(&cloud, "/v1/plain", "nobody-1").await.status, 401);
    // The policy is for GET only.
    let posted = request(&cloud, "POST /v1/plain", &[("x-api-key", "pro-1"), ("content-length", "0")]).await;
    assert_eq!(posted.status, 403);
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_answer_counts_for_the_whole_stage_and_its_time() {
    let cloud = start("remembered").await;
    for (target, minutes, expected) in
        [("/v1/plain", 0, "1"), ("/v1/other", 0, "1"), ("/v1/plain", 1, "2"), ("/v1/plain", 0, "2")]
    {
        cloud.clock().advance(Duration::from_mins(minutes));
        assert_eq!(asked(&get(&cloud, target, "pro-1").await), expected);
    }
    assert_eq!(asked(&get(&cloud, "/v1/plain", "pro-2").await), "3", "another key is another question");
    // What one value has decided does not count for two, in either order.
    for keys in [["pro-1", "nobody-1"], ["nobody-1", "pro-1"]] {
        let both = keys.map(|key| ("x-api-key", key));
        let answer = request(&cloud, "GET /v1/plain", &both).await;
        assert_eq!(answer.status, if keys[1] == "pro-1" { 200 } else { 401 });
    }
    // A policy for one method is remembered as it is.
    assert_eq!(get(&cloud, "/v1/plain", "once-1").await.json()["type"], "Forbidden", "no plan, but let in");
    assert_eq!(get(&cloud, "/v1/other", "once-1").await.json()["tier"], "once");
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_refusal_of_the_unknown_and_a_failure_are_not_remembered() {
    let cloud = start("forgotten").await;
    for key in ["nobody-1", "nobody-1", "fail-1", "fail-1", "null-1", "null-1"] {
        get(&cloud, "/v1/plain", key).await;
    }
    // A denial is.
    for _ in 0..2 {
        get(&cloud, "/v1/plain", "lapsed-1").await;
    }
    assert_eq!(asked(&get(&cloud, "/v1/plain", "pro-1").await), "8");
    cloud.shutdown().await;
}

#[tokio::test]
async fn no_answer_is_remembered_where_the_template_says_nought() {
    let template = TEMPLATE.replace("ReauthorizeEvery: 60", "ReauthorizeEvery: 0");
    let cloud = Cloud::start(options("nought", &template)).await.unwrap();
    assert_eq!(asked(&get(&cloud, "/v1/plain", "pro-1").await), "1");
    assert_eq!(asked(&get(&cloud, "/v1/plain", "pro-1").await), "2");
    assert_eq!(request(&cloud, "GET /v1/plain", &[]).await.status, 401);
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_log_says_why_an_authorizer_failed_and_never_the_key() {
    let cloud = start("secret").await;
    for kind in ["fail", "null", "nobody", "crash", "lapsed", "pro"] {
        get(&cloud, "/v1/plain", &format!("{kind}-gdsecret")).await;
    }
    let lines: Vec<_> = cloud.logs().into_iter().filter(|line| line.starts_with("local: parrot: ")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, expected) in
        lines.iter().zip(["cannot look up …", "context must be an object", "exit status: 7"])
    {
        assert!(line.contains(expected), "{line}");
    }
    assert!(cloud.logs().iter().all(|line| !line.contains("gdsecret")), "{:?}", cloud.logs());
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_key_that_asks_too_often_waits() {
    let throttled = Options { throttling: true, ..options("throttled", TEMPLATE) };
    let cloud = Cloud::start(throttled).await.unwrap();
    for _ in 0..3 {
        assert_eq!(get(&cloud, "/v1/kept", "starter-1").await.status, 200);
    }
    // Neither the cache nor the function gets to see it.
    for target in ["/v1/kept", "/v1/plain"] {
        let answer = get(&cloud, target, "starter-1").await;
        assert_eq!((answer.status, answer.json()), (429, json!({"message": "Too Many Requests"})));
        assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
    }
    assert_eq!(get(&cloud, "/v1/kept", "starter-2").await.status, 200);
    assert_eq!(get(&cloud, "/v1/kept", "pro-1").await.status, 200);
    cloud.clock().advance(Duration::from_secs(100));
    assert_eq!(get(&cloud, "/v1/kept", "starter-1").await.status, 200);
    assert_eq!(get(&cloud, "/v1/kept", "starter-1").await.status, 429);
    cloud.shutdown().await;

    let cloud = start("unthrottled").await;
    for _ in 0..10 {
        assert_eq!(get(&cloud, "/v1/kept", "starter-1").await.status, 200);
    }
    cloud.shutdown().await;
}

/// The answer without what differs each time.
fn replayed(answer: &Answer) -> (u16, String, String) {
    let head =
        answer.head.lines().filter(|line| !line.starts_with("x-amzn-requestid") && !line.starts_with("date"));
    (answer.status, head.collect::<Vec<_>>().join("\n"), answer.body.clone())
}

fn request_id(answer: &Answer) -> String {
    answer.head.lines().find(|line| line.starts_with("x-amzn-requestid")).unwrap().to_owned()
}

#[tokio::test]
async fn the_stage_cache_replays_what_a_function_answered_to_everybody_who_may_ask() {
    let cloud = start("cached").await;
    let first = get(&cloud, "/v1/kept?mode=a", "pro-1").await;
    let again = get(&cloud, "/v1/kept?unread=1&mode=b&mode=a", "pro-2").await;
    assert_eq!(replayed(&first), replayed(&again));
    assert_ne!(request_id(&first), request_id(&again));
    let impatient = [("x-api-key", "pro-1"), ("cache-control", "max-age=0")];
    assert_eq!(replayed(&request(&cloud, "GET /v1/kept?mode=a", &impatient).await), replayed(&first));
    for target in ["/v1/kept", "/v1/kept?mode=", "/v1/kept?mode=A", "/v1/kept?mode=a%26say=b"] {
        assert_ne!(get(&cloud, target, "pro-1").await.body, first.body, "{target}");
    }
    // Who may not ask gets nothing out of it.
    assert_eq!(request(&cloud, "GET /v1/kept?mode=a", &[]).await.status, 401);
    assert_eq!(get(&cloud, "/v1/kept?mode=a", "lapsed-1").await.status, 403);
    cloud.clock().advance(Duration::from_secs(299));
    assert_eq!(get(&cloud, "/v1/kept?mode=a", "pro-1").await.body, first.body);
    cloud.clock().advance(Duration::from_secs(1));
    assert_ne!(get(&cloud, "/v1/kept?mode=a", "pro-1").await.body, first.body);
    assert_ne!(get(&cloud, "/v1/plain", "pro-1").await.body, get(&cloud, "/v1/plain", "pro-1").await.body);
    cloud.shutdown().await;
}

/// Who answered each request, by the access log.
async fn answerers(test: &str, requests: &[(&str, &str)]) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&lines);
    let sink: Sink = Arc::new(move |line: &str| taken.lock().unwrap().push(line.to_owned()));
    let cloud = Cloud::start(Options { access_log: Some(sink), ..options(test, TEMPLATE) }).await.unwrap();
    for (target, key) in requests {
        get(&cloud, target, key).await;
    }
    cloud.shutdown().await;
    let lines = lines.lock().unwrap();
    assert!(lines.iter().all(|line| !line.contains("gdsecret")), "{lines:?}");
    lines.iter().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_access_log_says_who_answered() {
    let requests = [
        ("/v1/plain", ""),
        ("/v1/plain", "nobody-gdsecret"),
        ("/v1/plain", "lapsed-gdsecret"),
        ("/v1/plain", "fail-gdsecret"),
        ("/v1/plain", "other-gdsecret"),
        ("/nowhere", "pro-gdsecret"),
        ("/v1/kept", "pro-gdsecret"),
        ("/v1/kept", "pro-gdsecret"),
        ("/v1/plain", "pro-gdsecret"),
    ];
    let expected = [
        "gateway",
        "authorizer",
        "authorizer",
        "authorizer",
        "gateway",
        "gateway",
        "parrot",
        "cache",
        "parrot",
    ];
    assert_eq!(answerers("answerers", &requests).await, expected);
}

#[tokio::test]
async fn what_a_function_answers_is_kept_whatever_it_is_and_what_the_gateway_says_is_not() {
    let kept = ["/v1/kept?say=status", "/v1/kept?say=status"];
    let not_kept = [
        "/v1/kept?say=much",
        "/v1/kept?say=much",
        "/v1/kept?say=fail",
        "/v1/kept?say=fail",
        "/v1/kept?say=nonsense",
        "/v1/kept?say=nonsense",
    ];
    let requests: Vec<_> = kept.into_iter().chain(not_kept).map(|target| (target, "pro-1")).collect();
    let answerers = answerers("kept", &requests).await;
    assert_eq!(answerers[..2], ["parrot", "cache"]);
    assert!(answerers[2..].iter().all(|answerer| answerer == "parrot"), "{answerers:?}");
}

#[tokio::test]
async fn there_is_no_cache_where_the_template_has_none() {
    let parameters = [("GatewayCache".to_owned(), "off".to_owned())].into();
    let cloud = Cloud::start(Options { parameters, ..options("uncached", TEMPLATE) }).await.unwrap();
    assert_ne!(get(&cloud, "/v1/kept", "pro-1").await.body, get(&cloud, "/v1/kept", "pro-1").await.body);
    cloud.shutdown().await;
}

#[tokio::test]
async fn answers_are_compressed_for_those_who_ask_and_kept_plain() {
    let cloud = start("compressed").await;
    let encodings = [("gzip", true), ("", false), ("deflate", true), ("br", false), ("*;q=0", false)];
    let mut bodies = Vec::new();
    for (encoding, is_encoded) in encodings {
        let headers = [("x-api-key", "pro-1"), ("accept-encoding", encoding)];
        let answer = request(&cloud, "GET /v1/kept", &headers).await;
        let encoded = answer.head.contains(&format!("content-encoding: {encoding}\r\n"));
        assert_eq!(encoded, is_encoded, "{}", answer.head);
        let length = answer.head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        assert_eq!(length.parse::<usize>().unwrap() < answer.body.len(), is_encoded);
        bodies.push(answer.body);
    }
    assert!(bodies.windows(2).all(|two| two[0] == two[1]), "the bodies differ");
    let event: Value = serde_json::from_str(&bodies[0]).unwrap();
    assert_eq!(event["headers"]["accept-encoding"], "gzip");
    // It is too small.
    let headers = [("accept-encoding", "gzip")];
    let refused = request(&cloud, "GET /v1/kept", &headers).await;
    assert!(!refused.head.contains("content-encoding"), "{}", refused.head);
    cloud.shutdown().await;
}
