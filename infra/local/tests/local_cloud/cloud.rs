//! The local cloud as a whole, with a function that follows the command in its event (`examples/parrot.rs`).

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use local::{Cloud, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Response, options, send};

const TEMPLATE: &str = r#"
Parameters:
  GatewayCache: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      GatewayResponses:
        DEFAULT_5XX:
          StatusCode: 500
          ResponseParameters: {Headers: {Access-Control-Allow-Origin: "'*'"}}
          ResponseTemplates: {application/json: '{"success":false}'}
  ParrotFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildProperties: {Binary: parrot}}
    Properties:
      Timeout: 2
      Environment: {Variables: {GREETING: !Ref GatewayCache}}
      Events:
        Get: {Type: Api, Properties: {Method: GET, Path: /v1/parrot}}
        Named: {Type: Api, Properties: {Method: GET, Path: '/v1/parrot/{name}'}}
"#;

async fn request(url: &str, method: &str, target: &str) -> Response {
    send(url, format!("{method} {target} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").as_bytes())
        .await
}

async fn invoke(cloud: &Cloud, name: &str, headers: &str, payload: &str) -> Response {
    let length = payload.len();
    let request = format!(
        "POST /2015-03-31/functions/{name}/invocations HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{payload}"
    );
    send(&cloud.lambda_url(), request.as_bytes()).await
}

#[tokio::test]
async fn a_request_becomes_an_event_and_the_payload_a_response() {
    let cloud = Cloud::start(options("event", TEMPLATE)).await.unwrap();
    cloud.clock().stop_at(1_777_388_600_000);
    let sent = b"GET /v1/parrot/a%20b?x=1&x=2;y=a%20b HTTP/1.1\r\nhost: here\r\nuser-agent: price-watcher/1.4\r\nx-raw: a\xffb\r\n\
        x-forwarded-for: 203.0.113.7\r\nconnection: close\r\n\r\n";
    let response = send(&cloud.url(), sent).await;
    assert_eq!(response.status, 200);
    assert!(response.head.contains("x-twice: one\r\nx-twice: two"), "{}", response.head);
    let mut event = response.json();
    let trace = event["headers"]["X-Amzn-Trace-Id"].clone();
    assert!(trace.as_str().unwrap().starts_with("Root=1-69f0cc38-"), "{trace}");
    let headers = json!({
        "Host": "here",
        "User-Agent": "price-watcher/1.4",
        "X-Amzn-Trace-Id": trace,
        "X-Forwarded-For": "203.0.113.7, 127.0.0.1",
        "X-Forwarded-Port": "80",
        "X-Forwarded-Proto": "http",
        "x-raw": "a\u{fffd}b",
    });
    let list = |(name, value): (&String, &Value)| (name.clone(), json!([value]));
    let lists: Value = headers.as_object().unwrap().iter().map(list).collect();
    let context = event["requestContext"].take();
    // Everything that AWS documents for a request without an authorizer.
    assert_eq!(
        event,
        json!({
            "resource": "/v1/parrot/{name}",
            "path": "/v1/parrot/a%20b",
            "httpMethod": "GET",
            "headers": headers,
            "multiValueHeaders": lists,
            "queryStringParameters": {"x": "2", "y": "a b"},
            "multiValueQueryStringParameters": {"x": ["1", "2"], "y": ["a b"]},
            "pathParameters": {"name": "a%20b"},
            "stageVariables": null,
            "requestContext": null,
            "body": null,
            "isBase64Encoded": false,
        })
    );
    assert_eq!(context["requestId"].as_str().unwrap().len(), 36);
    assert_eq!(context["requestTime"], "28/Apr/2026:15:03:20 +0000");
    assert_eq!(context["requestTimeEpoch"], 1_777_388_600_000_i64);
    assert_eq!(context["path"], "/live/v1/parrot/a%20b");
    assert_eq!(context["identity"]["sourceIp"], "127.0.0.1");
    assert_eq!(
        context.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" "),
        "accountId apiId deploymentId domainName domainPrefix extendedRequestId httpMethod identity path \
         protocol requestId requestTime requestTimeEpoch resourceId resourcePath stage"
    );
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_failing_function_is_the_gateways_error_and_the_log_has_the_reason() {
    let cloud = Cloud::start(options("failures", TEMPLATE)).await.unwrap();
    for (word, reason) in [
        ("crash", "exit status: 7"),
        ("hang", "longer than 2.00 s"),
        ("fail", "asked to fail"),
        ("too%20much", "larger than"),
        ("no%20status", "its status code is 99"),
        ("no%20header", "the value of its header a is invalid"),
        ("process", "not a proxy response"),
    ] {
        let response = request(&cloud.url(), "GET", &format!("/v1/parrot?say={word}")).await;
        assert_eq!((response.status, response.body.as_str()), (500, "{\"success\":false}"), "{word}");
        assert!(response.head.contains("access-control-allow-origin: *"), "{}", response.head);
        assert!(cloud.logs().iter().any(|line| line.contains(reason)), "{word}: {:?}", cloud.logs());
        assert_eq!(request(&cloud.url(), "GET", "/v1/parrot").await.status, 200, "after {word}");
    }
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_half_closed_connection_gets_its_response() {
    let cloud = Cloud::start(options("half-close", TEMPLATE)).await.unwrap();
    let invocation = "POST /2015-03-31/functions/parrot/invocations HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 16\r\n\r\n{\"say\":\"slowly\"}";
    let request = "GET /v1/parrot?say=slowly HTTP/1.1\r\nhost: x\r\n\r\n";
    for (url, request, status) in [(cloud.url(), request, 500), (cloud.lambda_url(), invocation, 200)] {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut response = String::new();
        tokio::time::timeout(Duration::from_mins(3), stream.read_to_string(&mut response))
            .await
            .unwrap()
            .unwrap();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_body_is_passed_on_as_text_and_a_huge_or_incomplete_one_is_refused() {
    let template = TEMPLATE.replace("Method: GET, Path: /v1/parrot}", "Method: ANY, Path: /v1/parrot}");
    let cloud = Cloud::start(options("body", &template)).await.unwrap();
    let post = |length: usize| {
        let mut request = format!(
            "POST /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.resize(request.len() + length, b'\xff');
        request
    };
    assert_eq!(send(&cloud.url(), &post(3)).await.json()["body"], "\u{fffd}\u{fffd}\u{fffd}");
    assert_eq!(send(&cloud.url(), &post(7_000_000)).await.status, 413);
    assert_eq!(send(&cloud.url(), &post(11_000_000)).await.status, 413);
    let broken = b"POST /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n";
    let response = send(&cloud.url(), broken).await;
    assert_eq!((response.status, response.json()), (400, json!({"message": "Invalid request body"})));
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_function_has_the_environment_of_its_template_and_the_only_known_secret() {
    let secret = "'{{resolve:secretsmanager:name}}'";
    let variables = format!("{{HYPIXEL_API_KEY: {secret}, OTHER: {secret}, GREETING: !Ref GatewayCache}}");
    let template = TEMPLATE.replace("{GREETING: !Ref GatewayCache}", &variables);
    let options = Options { upstream_key: Some("k".to_owned()), ..options("environment", &template) };
    let cloud = Cloud::start(options).await.unwrap();
    let response = invoke(&cloud, "parrot", "", "{\"say\":\"environment\"}").await.json();
    assert_eq!((&response["GREETING"], &response["HYPIXEL_API_KEY"]), (&json!("off"), &json!("k")));
    assert_eq!((&response["OTHER"], &response["HOME"]), (&Value::Null, &Value::Null));
    assert_eq!(response["AWS_ENDPOINT_URL_DYNAMODB"], cloud.dynamodb().url());
    assert_eq!(response["AWS_ENDPOINT_URL_API_GATEWAY"], cloud.lambda_url());
    assert!(cloud.logs()[0].starts_with("local: parrot: OTHER is not set"), "{:?}", cloud.logs());
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_invoke_api_passes_events_on_unchanged() {
    let cloud = Cloud::start(options("invoke", TEMPLATE)).await.unwrap();
    for name in ["ParrotFunction", "parrot", "%70arrot"] {
        let response = invoke(&cloud, name, "", "{\"a\":\"b\"}").await;
        assert_eq!((response.status, &response.json()["body"]), (200, &json!("{\"a\":\"b\"}")), "{name}");
        assert!(!response.head.contains("x-amz-function-error"));
    }
    let failed = invoke(&cloud, "parrot", "", "{\"say\":\"crash\"}").await;
    assert_eq!((failed.status, &failed.json()["errorType"]), (200, &json!("Runtime.ExitError")));
    assert!(failed.head.contains("x-amz-function-error: unhandled"), "{}", failed.head);

    assert_eq!(invoke(&cloud, "parrot", "x-amz-invocation-type: Event\r\n", "{}").await.status, 202);
    for (name, headers, payload, status, error_type) in [
        ("nobody", "", "{}", 404, "resourcenotfoundexception"),
        ("parrot", "", "{", 400, "invalidrequestcontentexception"),
        ("parrot", "x-amz-invocation-type: Maybe\r\n", "{}", 400, "invalidparametervalueexception"),
    ] {
        let response = invoke(&cloud, name, headers, payload).await;
        assert_eq!(response.status, status, "{name} {payload}");
        assert!(response.head.contains(&format!("x-amzn-errortype: {error_type}")), "{}", response.head);
        assert_eq!(response.json()["Type"], "User");
    }
    assert_eq!(request(&cloud.lambda_url(), "GET", "/").await.status, 404);
    cloud.shutdown().await;
}

/// The id of the process that responds.
async fn process_of(cloud: &Cloud, word: &str) -> String {
    let response = cloud.invoke("parrot", format!("{{\"say\":{word:?}}}")).await.unwrap();
    String::from_utf8(response.to_vec()).unwrap()
}

fn exists(process: &str) -> bool {
    std::path::Path::new("/proc").join(process).exists()
}

async fn await_end(process: &str) {
    let started = Instant::now();
    while exists(process) {
        assert!(started.elapsed() < Duration::from_mins(3), "process {process} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_second_instance_starts_when_the_first_is_busy_and_a_third_caller_waits() {
    let concurrency = NonZeroU16::new(2).unwrap();
    let cloud = Cloud::start(Options { concurrency, ..options("busy", TEMPLATE) }).await.unwrap();
    let slowly = || process_of(&cloud, "slowly");
    let (first, second, third) = tokio::join!(slowly(), slowly(), slowly());
    let processes = BTreeSet::from([first, second, third]);
    assert_eq!(processes.len(), 2, "{processes:?}");
    cloud.kill("parrot").await.unwrap();
    assert!(!processes.iter().any(|process| exists(process)), "{processes:?}");
    assert!(!processes.contains(&process_of(&cloud, "process").await));
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_idle_process_that_is_killed_is_no_zombie_and_is_replaced() {
    let cloud = Cloud::start(options("zombie", TEMPLATE)).await.unwrap();
    let idle = process_of(&cloud, "process").await;
    let killed = tokio::process::Command::new("kill").args(["-9", &idle]).status().await.unwrap();
    assert!(killed.success());
    await_end(&idle).await;
    assert_ne!(process_of(&cloud, "process").await, idle);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_failed_start_is_one_sentence() {
    let cases = [
        (
            Options { template: PathBuf::from("/nowhere/template.yaml"), ..options("none", TEMPLATE) },
            "/nowhere",
        ),
        (
            options("binary", &TEMPLATE.replace("parrot}", "budgerigar}")),
            "ParrotFunction has no binary budgerigar",
        ),
    ];
    for (options, expected) in cases {
        let message = Cloud::start(options).await.err().unwrap().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    }
}

#[tokio::test]
async fn functions_that_do_not_build_are_an_error() {
    let template = TEMPLATE.replace("parrot}", "no-such-package}");
    let options = Options { binaries: Options::for_tests().binaries, ..options("build", &template) };
    let error = Cloud::start(options).await.err().unwrap();
    assert!(error.to_string().contains("do not build"), "{error}");
}

#[tokio::test]
async fn dropping_a_cloud_ends_its_functions() {
    let cloud = Cloud::start(options("drop", TEMPLATE)).await.unwrap();
    let process = process_of(&cloud, "process").await;
    let url = cloud.url();
    drop(cloud);
    await_end(&process).await;
    assert!(TcpStream::connect(url.strip_prefix("http://").unwrap()).await.is_err());
}
