//! The local cloud from outside, with a function that does what it is told (`examples/parrot.rs`).
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use local::{Binaries, Cloud, Error, Options, Sink};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use support::{Answer, options, send};

const TEMPLATE: &str = r#"
Parameters:
  GatewayCache: {Type: String, Default: 'on', AllowedValues: ['on', 'off']}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      Cors: {AllowOrigin: "'*'", AllowMethods: "'GET'", AllowHeaders: "'X-API-Key'"}
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

async fn request(url: &str, method: &str, target: &str) -> Answer {
    send(url, format!("{method} {target} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").as_bytes())
        .await
}

async fn invoke(cloud: &Cloud, name: &str, headers: &str, payload: &str) -> Answer {
    let length = payload.len();
    let request = format!(
        "POST /2015-03-31/functions/{name}/invocations HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{payload}"
    );
    send(&cloud.lambda_url(), request.as_bytes()).await
}

#[tokio::test]
async fn a_request_becomes_an_event_and_the_answer_a_response() {
    let cloud = Cloud::start(options("event", TEMPLATE)).await.unwrap();
    cloud.clock().advance(Duration::from_hours(24 * 365));
    let answer = request(&cloud.url(), "GET", "/v1/parrot/a%20b?x=1&x=2").await;
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("x-twice: one\r\nx-twice: two"), "{}", answer.head);
    let event = answer.json();
    assert_eq!(event["resource"], "/v1/parrot/{name}");
    assert_eq!(event["pathParameters"], json!({"name": "a b"}));
    assert_eq!(event["multiValueQueryStringParameters"], json!({"x": ["1", "2"]}));
    let time = event["requestContext"]["requestTimeEpoch"].as_i64().unwrap();
    assert!((cloud.clock().now_ms() - time) < 20_000, "{time}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn whatever_a_function_does_the_caller_gets_the_gateways_envelope_and_the_log_the_reason() {
    let cloud = Cloud::start(options("failures", TEMPLATE)).await.unwrap();
    for (word, reason) in [
        ("crash", "exit status: 7"),
        ("hang", "longer than 2.00 s"),
        ("fail", "asked to fail"),
        ("too%20much", "larger than"),
        ("nonsense", "no proxy response"),
        ("process", "no proxy response"),
    ] {
        let answer = request(&cloud.url(), "GET", &format!("/v1/parrot?say={word}")).await;
        assert_eq!((answer.status, answer.body.as_str()), (500, "{\"success\":false}"), "{word}");
        assert!(answer.head.contains("access-control-allow-origin: *"), "{}", answer.head);
        assert!(cloud.logs().iter().any(|line| line.contains(reason)), "{word}: {:?}", cloud.logs());
        assert_eq!(request(&cloud.url(), "GET", "/v1/parrot").await.status, 200, "after {word}");
    }
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_gateway_answers_itself_where_no_function_does() {
    let cloud = Cloud::start(options("own", TEMPLATE)).await.unwrap();
    for (method, target) in
        [("GET", "/"), ("GET", "/<script>\"'"), ("POST", "/v1/parrot"), ("HEAD", "/v1/parrot")]
    {
        assert_eq!(request(&cloud.url(), method, target).await.status, 403, "{method} {target}");
    }
    let preflight = request(&cloud.url(), "OPTIONS", "/v1/parrot").await;
    assert_eq!((preflight.status, preflight.body.trim()), (200, "{}"));
    assert!(preflight.head.contains("access-control-allow-headers: x-api-key"), "{}", preflight.head);
    assert_eq!(request(&cloud.url(), "OPTIONS", "/nowhere").await.status, 403);
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_connection_serves_several_requests_and_survives_what_is_no_uri() {
    let cloud = Cloud::start(options("connection", TEMPLATE)).await.unwrap();
    let requests = "GET /v1/parrot?a=<1> HTTP/1.1\r\nhost: here\r\n\r\n";
    let mut stream = TcpStream::connect(cloud.url().strip_prefix("http://").unwrap()).await.unwrap();
    for _ in 0..3 {
        stream.write_all(requests.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.ends_with("\"stageVariables\":null}") {
            let mut chunk = [0; 4096];
            let count = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut chunk))
                .await
                .unwrap()
                .unwrap();
            assert_ne!(count, 0, "{answer}");
            answer.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"a\":\"<1>\""), "{answer}");
    }
    for nonsense in
        [&b"\x16\x03\x01\x02\x00\x01\r\n\r\n"[..], b"GET\r\n\r\n", b"\r\n\r\n\0\0\0 / HTTP/9\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(cloud.url().strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(nonsense).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    assert_eq!(request(&cloud.url(), "GET", "/v1/parrot").await.status, 200);
    cloud.shutdown().await;
}

#[tokio::test]
async fn requests_may_come_before_the_answer_to_the_one_before() {
    let cloud = Cloud::start(options("pipeline", TEMPLATE)).await.unwrap();
    let mut stream = TcpStream::connect(cloud.url().strip_prefix("http://").unwrap()).await.unwrap();
    let pieces = [
        "GET /<1> HTTP/1.1\r\nhost: x\r\n\r\nPOST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nab",
        "cGET /<2> HTTP/1.1\r\nhost: x\r\nconnection: close\r\n",
        "\r\n",
    ];
    for piece in pieces {
        stream.write_all(piece.as_bytes()).await.unwrap();
        // Long enough for what has come so far to be answered.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let mut answers = String::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut answers))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(answers.matches("HTTP/1.1 403").count(), 3, "{answers}");
    cloud.shutdown().await;
}

#[tokio::test]
async fn whoever_has_nothing_more_to_send_is_answered() {
    let cloud = Cloud::start(options("half-close", TEMPLATE)).await.unwrap();
    let invocation = "POST /2015-03-31/functions/parrot/invocations HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 16\r\n\r\n{\"say\":\"slowly\"}";
    let request = "GET /v1/parrot?say=slowly HTTP/1.1\r\nhost: x\r\n\r\n";
    for (url, request, status) in [(cloud.url(), request, 500), (cloud.lambda_url(), invocation, 200)] {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut answer))
            .await
            .unwrap()
            .unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    cloud.shutdown().await;
}

#[tokio::test]
async fn a_body_arrives_as_text_and_a_huge_one_is_refused() {
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
async fn a_broken_body_is_another_matter_than_a_huge_one() {
    let broken = b"POST /v1/parrot HTTP/1.1\r\nhost: here\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n";
    let cloud = Cloud::start(options("broken-body", TEMPLATE)).await.unwrap();
    let answer = send(&cloud.url(), broken).await;
    assert_eq!((answer.status, answer.json()), (400, json!({"message": "Invalid request body"})));
    cloud.shutdown().await;

    let own = "GatewayResponses:\n        BAD_REQUEST_BODY: {ResponseTemplates: {application/json: own}}";
    let cloud = Cloud::start(options("own-body", &TEMPLATE.replace("GatewayResponses:", own))).await.unwrap();
    let answer = send(&cloud.url(), broken).await;
    assert_eq!((answer.status, answer.body.as_str()), (400, "own"));
    cloud.shutdown().await;
}

#[tokio::test]
async fn the_invoke_api_takes_events_as_they_are() {
    let options = Options {
        parameters: BTreeMap::from([("GatewayCache".to_owned(), "on".to_owned())]),
        ..options("invoke", TEMPLATE)
    };
    let cloud = Cloud::start(options).await.unwrap();
    for name in ["ParrotFunction", "parrot", "parrot:live", "parrot%3A%24LATEST"] {
        let answer = invoke(&cloud, name, "", "{\"say\":\"greeting\"}").await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "\"on\""), "{name}");
        assert!(!answer.head.contains("x-amz-function-error"));
    }
    let failed = invoke(&cloud, "parrot", "", "{\"say\":\"crash\"}").await;
    assert_eq!((failed.status, &failed.json()["errorType"]), (200, &json!("Runtime.ExitError")));
    assert!(failed.head.contains("x-amz-function-error: unhandled"), "{}", failed.head);

    assert_eq!(invoke(&cloud, "parrot", "x-amz-invocation-type: Event\r\n", "{}").await.status, 202);
    assert_eq!(invoke(&cloud, "parrot", "x-amz-invocation-type: DryRun\r\n", "{}").await.status, 204);
    for (name, headers, payload, status, error_type) in [
        ("nobody", "", "{}", 404, "resourcenotfoundexception"),
        ("parrot", "", "{", 400, "invalidrequestcontentexception"),
        ("parrot", "", "\u{1}", 400, "invalidrequestcontentexception"),
        ("parrot", "x-amz-invocation-type: Maybe\r\n", "{}", 400, "invalidparametervalueexception"),
    ] {
        let answer = invoke(&cloud, name, headers, payload).await;
        assert_eq!(answer.status, status, "{name} {payload}");
        assert!(answer.head.contains(&format!("x-amzn-errortype: {error_type}")), "{}", answer.head);
        assert_eq!(answer.json()["Type"], "User");
    }
    assert_eq!(request(&cloud.lambda_url(), "GET", "/").await.status, 404);
    cloud.shutdown().await;
}

#[tokio::test]
async fn every_request_leaves_one_line_without_its_query() {
    let lines = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let taken = std::sync::Arc::clone(&lines);
    let sink: Sink = std::sync::Arc::new(move |line: &str| taken.lock().unwrap().push(line.to_owned()));
    let cloud =
        Cloud::start(Options { access_log: Some(sink), ..options("access", TEMPLATE) }).await.unwrap();
    request(&cloud.url(), "GET", "/v1/parrot?key=gd_secret").await;
    request(&cloud.url(), "GET", "/a\u{1b}[31m").await;
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
async fn what_cannot_start_says_why_in_one_sentence() {
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
        let said = Cloud::start(options).await.err().unwrap().to_string();
        assert!(said.contains(expected) && !said.contains('\n'), "{said}");
    }
    first.shutdown().await;
}

#[tokio::test]
async fn functions_that_do_not_build_are_one_sentence() {
    let template = TEMPLATE.replace("parrot}", "no-such-package}");
    let options = Options { binaries: Binaries::Build { release: false }, ..options("build", &template) };
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
        assert!(started.elapsed() < Duration::from_secs(10), "process {process} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(TcpStream::connect(url.strip_prefix("http://").unwrap()).await.is_err());
}
