//! The local cloud as a whole, with a function that does what the event says (`examples/parrot.rs`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use local::{Cloud, Error, LineSink, Options};
use serde_json::json;
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
    cloud.clock().advance(Duration::from_hours(24 * 365));
    let response = request(&cloud.url(), "GET", "/v1/parrot/a%20b?x=1&x=2").await;
    assert_eq!(response.status, 200);
    assert!(response.head.contains("x-twice: one\r\nx-twice: two"), "{}", response.head);
    let event = response.json();
    assert_eq!(event["resource"], "/v1/parrot/{name}");
    assert_eq!(event["pathParameters"], json!({"name": "a%20b"}));
    assert_eq!(event["multiValueQueryStringParameters"], json!({"x": ["1", "2"]}));
    let time = event["requestContext"]["requestTimeEpoch"].as_i64().unwrap();
    assert!((cloud.clock().now_ms() - time) < 20_000, "{time}");
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
        ("nonsense", "not a proxy response"),
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
async fn a_body_is_passed_on_as_text_and_a_huge_one_is_refused() {
    let template = TEMPLATE.replace("Method: GET, Path: /v1/parrot}", "Method: ANY, Path: /v1/parrot}");
    let cloud = Cloud::start(options("body", &template)).await.unwrap();
    let post = |length: usize| {
        let mut request = format!(
            "POST /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.resize(request.len() + length, b'x');
        request
    };
    assert_eq!(send(&cloud.url(), &post(3)).await.json()["body"], "xxx");
    assert_eq!(send(&cloud.url(), &post(7_000_000)).await.status, 413);
    assert_eq!(send(&cloud.url(), &post(11_000_000)).await.status, 413);
    cloud.shutdown().await;
}

#[tokio::test]
async fn an_incomplete_body_is_a_bad_request() {
    let broken = b"POST /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n";
    let cloud = Cloud::start(options("broken-body", TEMPLATE)).await.unwrap();
    let response = send(&cloud.url(), broken).await;
    assert_eq!((response.status, response.json()), (400, json!({"message": "Invalid request body"})));
    cloud.shutdown().await;

    let own = "GatewayResponses:\n        BAD_REQUEST_BODY: {ResponseTemplates: {application/json: own}}";
    let cloud = Cloud::start(options("own-body", &TEMPLATE.replace("GatewayResponses:", own))).await.unwrap();
    let response = send(&cloud.url(), broken).await;
    assert_eq!((response.status, response.body.as_str()), (400, "own"));
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_invoke_api_passes_events_on_unchanged() {
    let options = Options {
        parameters: BTreeMap::from([("GatewayCache".to_owned(), "on".to_owned())]),
        ..options("invoke", TEMPLATE)
    };
    let cloud = Cloud::start(options).await.unwrap();
    for name in ["ParrotFunction", "parrot", "%70arrot"] {
        let response = invoke(&cloud, name, "", "{\"say\":\"greeting\"}").await;
        assert_eq!((response.status, response.body.as_str()), (200, "\"on\""), "{name}");
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

#[tokio::test]
async fn the_access_log_has_one_line_per_request_without_its_query() {
    let lines = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let taken = std::sync::Arc::clone(&lines);
    let sink: LineSink = std::sync::Arc::new(move |line: &str| taken.lock().unwrap().push(line.to_owned()));
    let cloud =
        Cloud::start(Options { access_log: Some(sink), ..options("access", TEMPLATE) }).await.unwrap();
    request(&cloud.url(), "GET", "/v1/parrot?key=gd_secret").await;
    request(&cloud.url(), "GET", "/a%1B[31m").await;
    cloud.shutdown().await;
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("GET /v1/parrot 200 ") && lines[0].ends_with(" bytes parrot"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].starts_with("GET /a%1B[31m 403 ") && lines[1].ends_with(" bytes gateway"),
        "{}",
        lines[1]
    );
}

#[tokio::test]
async fn a_failed_start_is_one_sentence() {
    let first = Cloud::start(options("first", TEMPLATE)).await.unwrap();
    let port = first.url().rsplit(':').next().unwrap().parse().unwrap();
    let cases = [
        (Options { port, ..options("port", TEMPLATE) }, "is in use"),
        (
            Options { template: PathBuf::from("/nowhere/template.yaml"), ..options("none", TEMPLATE) },
            "/nowhere",
        ),
        (options("broken", "Resources: ["), "not YAML"),
        (
            options("binary", &TEMPLATE.replace("parrot}", "budgerigar}")),
            "ParrotFunction has no binary budgerigar",
        ),
        (
            Options {
                parameters: BTreeMap::from([("Colour".to_owned(), "red".to_owned())]),
                ..options("parameter", TEMPLATE)
            },
            "no parameter Colour",
        ),
    ];
    for (options, expected) in cases {
        let message = Cloud::start(options).await.err().unwrap().to_string();
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    }
    first.shutdown().await;
}

#[tokio::test]
async fn functions_that_do_not_build_are_an_error() {
    let template = TEMPLATE.replace("parrot}", "no-such-package}");
    let options = Options { binaries: Options::for_tests().binaries, ..options("build", &template) };
    let error = Cloud::start(options).await.err().unwrap();
    assert!(matches!(error, Error::Build), "{error}");
}

#[tokio::test]
async fn dropping_a_cloud_ends_its_functions() {
    let cloud = Cloud::start(options("drop", TEMPLATE)).await.unwrap();
    let process = invoke(&cloud, "parrot", "", "{\"say\":\"process\"}").await.body;
    let url = cloud.url();
    drop(cloud);
    let started = Instant::now();
    while std::path::Path::new("/proc").join(&process).exists() {
        assert!(started.elapsed() < Duration::from_mins(3), "process {process} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(TcpStream::connect(url.strip_prefix("http://").unwrap()).await.is_err());
}
