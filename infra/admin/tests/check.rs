//! `cargo admin check`, as operators run it: on a local cloud, which keeps every promise, through a proxy that breaks them, and on
//! servers that are not this service.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use local::template::Document;
use local::{Cloud, Options};
use serde_json::Value;

/// A key that has not been issued.
const KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
const DOCUMENT: &str = include_str!("../../../functions/index/openapi.json");

/// The start of a request, a change of its response, and the checks that must then fail.
const BREAKAGES: &[(&str, &str, &str, &[&str])] = &[
    ("GET /openapi.json ", "\"paths\"", "\"path\"", &["OpenAPI document is that of this version"]),
    ("GET /v1/mayor ", "\"data\":{", "\"data\":{\"x\":1,", &["response GET /v1/mayor"]),
    (
        "GET /v1/mayor ",
        "UNAUTHORIZED",
        "X",
        &["error 401 no key GET /v1/mayor", "error 401 unknown key", "error 401 revoked key"],
    ),
    ("GET /v1/mayor ", "FORBIDDEN", "X", &["error 403 lapsed key", "cached response requires a key"]),
    ("GET /v1/fire-sales ", " 200 ", " 302 ", &["response GET /v1/fire-sales"]),
    ("GET /v1/status ", "access-control-allow-origin", "x", &["response GET /v1/status"]),
    ("GET /v1/mayor/history?limit=0 ", "\"success\":false,", "", &["error 400", "error 429"]),
    ("GET /v1/nothing ", " 404 ", " 403 ", &["error 404 GET /v1/nothing"]),
    ("POST /v1/mayor ", "NOT_FOUND", "X", &["error 404 POST /v1/mayor"]),
    ("OPTIONS / ", "access-control-allow-headers", "x", &["preflight OPTIONS /"]),
    ("OPTIONS /v1/mayor ", "access-control-allow-methods: ", "x:", &["preflight OPTIONS /v1/mayor"]),
    ("GET /v1/items ", "content-encoding", "x", &["compression GET /v1/items"]),
    ("GET /v1/profile/, ", "retry-after", "x", &["limit of profiles is their own"]),
];

/// Runs the program with the key in the environment; returns standard output, standard error and exit code.
#[track_caller]
fn check(url: &str, keys: &[(&str, &str)], arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admin"));
    command.args(["check", "--url", url]).args(arguments).stdin(Stdio::null()).env("API_KEY", KEY);
    command.env_remove("LAPSED_API_KEY").env_remove("REVOKED_API_KEY").envs(keys.iter().copied());
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    let [output, messages] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!output.contains(&KEY[3..20]) && !messages.contains(&KEY[3..20]), "{output}{messages}");
    (output, messages, code)
}

/// The outcomes of the checks in a JSON document by their names.
#[track_caller]
fn outcomes(output: &str) -> BTreeMap<String, String> {
    let report: Value = serde_json::from_str(output).unwrap();
    let text = |check: &Value, field: &str| check[field].as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap();
    checks.iter().map(|check| (text(check, "name"), text(check, "outcome"))).collect()
}

/// A server with this response to each request. Returns its URL, and the requests.
fn serve(respond: impl Fn(&str) -> Vec<u8> + Send + 'static) -> (String, Receiver<String>) {
    let (sender, requests) = mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let mut request = vec![0; 4096];
            // The program may close the connection early.
            let length = stream.read(&mut request).unwrap_or_default();
            let request = String::from_utf8(request[..length].to_vec()).unwrap();
            let _ = stream.write_all(&respond(&request));
            let _ = sender.send(request);
        }
    });
    (url, requests)
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n{body}").into_bytes()
}

/// A server of the document, with this response to all other requests.
fn serve_document(others: impl Fn(&str) -> Vec<u8> + Send + 'static) -> (String, Receiver<String>) {
    serve(move |request| {
        if request.starts_with("GET /openapi.json") {
            response("200 OK", "", DOCUMENT)
        } else {
            others(request)
        }
    })
}

/// The response of the server to the request, with every change.
fn broken(server: &str, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.write_all(request.replacen("\r\n", "\r\nconnection: close\r\n", 1).as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let replace = |response: Vec<u8>, from: &str, to: &str| {
        let Some(at) = response.windows(from.len()).position(|part| part == from.as_bytes()) else {
            return response;
        };
        [&response[..at], to.as_bytes(), &response[at + from.len()..]].concat()
    };
    let breakages = BREAKAGES.iter().filter(|(start, ..)| request.starts_with(start));
    let changed = breakages.fold(response, |response, (_, from, to, _)| replace(response, from, to));
    // The body ends with the connection.
    replace(changed, "content-length", "x")
}

async fn start(parameters: &[(&str, &str)]) -> Cloud {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let options = Options { parameters: parameters.collect(), ..Options::for_tests() };
    let cloud = Cloud::start(options).await.unwrap();
    cloud.record_no_auctions().await.unwrap();
    cloud
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_cloud_keeps_every_promise() {
    let cloud = start(&[("GatewayCache", "off")]).await;
    let pro = cloud.keys().unwrap().pro.expose().to_owned();
    let (output, messages, code) = check(&cloud.url(), &[("API_KEY", &pro)], &["--rate", "1000"]);
    assert_eq!((messages.as_str(), code), ("", 0), "{output}");
    assert!(
        output.starts_with("pass  OpenAPI document is served\npass  ") && !output.contains(&pro),
        "{output}"
    );
    assert!(output.contains(" passed, 0 failed, 5 skipped; "), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_broken_promise_is_noticed() {
    let cloud = start(&[
        ("GatewayCache", "on"),
        ("ProRateLimit", "1"),
        ("ProBurstLimit", "120"),
        ("ProfileRateLimit", "1"),
        ("ProfileBurstLimit", "20"),
    ])
    .await;
    let server = cloud.url().replace("http://", "");
    let (url, _requests) = serve(move |request| broken(&server, request));
    let keys = cloud.keys().unwrap();
    let keys = [
        ("API_KEY", keys.pro.expose()),
        ("LAPSED_API_KEY", keys.lapsed.expose()),
        ("REVOKED_API_KEY", keys.revoked.expose()),
    ];
    let (output, _, code) = check(&url, &keys, &["--rate", "1000", "--throttle", "--json"]);
    let failed = outcomes(&output).into_iter().filter(|(_, outcome)| outcome == "failed");
    let failed: BTreeSet<String> = failed.map(|(name, _)| name).collect();
    let expected = BREAKAGES.iter().flat_map(|(.., checks)| *checks).map(|name| (*name).to_owned());
    assert_eq!((failed, code), (expected.collect(), 1), "{output}");
}

#[test]
fn an_echo_keeps_no_promise_and_no_key_is_printed_or_part_of_a_url() {
    let (url, requests) = serve_document(|request| response("200 OK", "", request));
    let keys = [("LAPSED_API_KEY", KEY), ("REVOKED_API_KEY", KEY)];
    let (output, _, code) = check(&url, &keys, &["--rate", "1000", "--throttle", "--json"]);
    assert!(output.contains("gd_…"), "no response of the server is quoted: {output}");
    for (name, outcome) in outcomes(&output) {
        let expected = match name.as_str() {
            "response GET /v1/bazaar/candles/all" => "skipped",
            "OpenAPI document is served" | "OpenAPI document is that of this version" => "passed",
            _ => "failed",
        };
        assert_eq!(outcome, expected, "{name}: {output}");
    }
    let requests: Vec<String> = requests.try_iter().collect();
    assert!(code == 1 && requests.iter().any(|request| request.contains(KEY)));
    // Logs keep URLs.
    assert!(requests.iter().all(|request| !request.lines().next().unwrap().contains("gd_")));
}

#[test]
fn another_service_gets_no_key() {
    let (url, requests) = serve(|_| response("200 OK", "", "hello"));
    let (output, messages, code) = check(&url, &[], &[]);
    assert_eq!((messages.as_str(), code), ("", 1));
    assert!(
        output.starts_with("FAIL  OpenAPI document is served\n      expected an OpenAPI document\n"),
        "{output}"
    );
    let requests: Vec<String> = requests.try_iter().collect();
    assert!(requests.len() == 1 && !requests[0].contains(KEY), "{requests:?}");
}

#[test]
fn a_429_is_retried_unless_retry_after_is_long_and_nothing_is_sent_during_an_outage() {
    let count = std::cell::Cell::new(0);
    let (url, requests) = serve_document(move |_| match count.replace(count.get() + 1) {
        0 => response("429 X", "retry-after: 1\r\n", ""),
        1 => response("429 X", "retry-after: 3600\r\n", ""),
        _ => Vec::new(),
    });
    let (output, _, code) = check(&url, &[], &["--rate", "1000"]);
    assert!(output.contains("not sent, because the last 3 requests had no response"), "{output}");
    assert!(code == 1 && output.ends_with("1 of them repeated after a 429\n"), "{output}");
    // The document twice, the two 429s, and three without a response.
    assert_eq!(requests.try_iter().count(), 7, "{output}");
}

#[test]
fn an_invalid_command_line_and_a_missing_service_are_errors() {
    let file = format!("{}/check-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&file, "secret\n").unwrap();
    let good = format!("{file}-good");
    std::fs::write(&good, format!(" {KEY}\r\nanything\n")).unwrap();
    let url = "http://127.0.0.1:9";
    for (url, key, arguments, expected, code) in [
        ("127.0.0.1:9", KEY, &[][..], "must be a URL like https://", 2),
        ("http://x?a", KEY, &[], "must begin with https://", 2),
        ("https://a:b@x.example", KEY, &[], "must have no user name", 2),
        (url, " ", &[], "an API key is required: --key - with", 2),
        (url, "secret", &[], "API_KEY has no valid API key: ", 2),
        (url, KEY, &["--key", KEY], "every user of this machine can see arguments", 2),
        (url, KEY, &["--key", "-"], "an API key is required", 2),
        (url, KEY, &["--key-file", &file], "--key-file", 2),
        (url, KEY, &["--revoked-key-file", &file], "--revoked-key-file", 2),
        (url, KEY, &["--player", "not.a.name"], "--player", 2),
        (url, KEY, &["--rate", "NaN"], "--rate", 2),
        (url, KEY, &[], "error: no response to GET /openapi.json: ", 1),
        (url, " ", &["--key-file", &good], "error: no response to GET /openapi.json: ", 1),
    ] {
        let (output, messages, ended) = check(url, &[("API_KEY", key)], arguments);
        assert_eq!((output.as_str(), ended), ("", code), "{arguments:?}: {messages}");
        assert!(messages.contains(expected) && !messages.contains("secret"), "{arguments:?}: {messages}");
    }
}

#[test]
fn the_default_rate_is_below_the_limits_of_every_tier() {
    let (help, ..) = check("http://x", &[], &["--help"]);
    let default: f64 = help.split("[default: ").nth(1).unwrap().split(']').next().unwrap().parse().unwrap();
    let document = Document::read(&Options::default().template).unwrap();
    let parameters = [("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())];
    let plans = document.evaluate(&parameters.into()).unwrap().usage_plans;
    assert!(plans.len() == 2 && plans.iter().all(|plan| default < plan.throttle.unwrap().rate));
}
