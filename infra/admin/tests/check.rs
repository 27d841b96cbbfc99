//! `cargo admin check`, as operators run it: on a local cloud, which keeps every promise, through a proxy
//! that breaks promises, and on servers of other services.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use local::{Cloud, Options};
use serde_json::Value;

use crate::server::{response, serve};

/// A key that has not been issued.
const KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
const DOCUMENT: &str = include_str!("../../../functions/index/openapi.json");

/// The start of a request, a text in its response, the replacement for this text, and the checks that must
/// then fail.
const BREAKAGES: &[(&str, &str, &str, &[&str])] = &[
    ("GET /openapi.json ", "\"paths\"", "\"path\"", &["OpenAPI document is of this version"]),
    ("GET /v1/mayor ", "\"data\":{", "\"data\":{\"x\":1,", &["response GET /v1/mayor"]),
    (
        "GET /v1/mayor ",
        "UNAUTHORIZED",
        "X",
        &["error 401 no key", "error 401 unknown key", "error 401 revoked key"],
    ),
    ("GET /v1/mayor ", "FORBIDDEN", "X", &["error 403 lapsed key", "cached response requires a key"]),
    ("GET /v1/fire-sales ", " 200 ", " 302 ", &["response GET /v1/fire-sales"]),
    ("GET /v1/status ", "access-control-allow-origin", "x", &["response GET /v1/status"]),
    ("HEAD /v1/status ", " 200 ", " 404 ", &["response HEAD /v1/status"]),
    ("GET /v1/mayor/history?limit=0 ", "\"success\":false,", "", &["error 400", "error 429"]),
    ("GET /v1/nothing ", " 404 ", " 403 ", &["error 404 unknown route"]),
    ("OPTIONS /v1/mayor ", "access-control-allow-methods: ", "x:", &["preflight OPTIONS /v1/mayor"]),
    ("GET /v1/items ", "content-encoding", "x", &["compression GET /v1/items"]),
    ("GET /v1/profile/, ", "retry-after", "x", &["profiles have their own limit"]),
];

/// Runs the program with the keys in the environment; returns standard output, standard error and exit code.
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

/// Returns the server's response to the request, with all changes for that request.
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
    // Without a length, the body ends with the connection.
    replace(changed, "content-length", "x")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cloud_keeps_every_promise_and_each_broken_one_is_noticed() {
    let parameters = BTreeMap::from(
        [
            ("GatewayCache", "on"),
            ("ProRateLimit", "1"),
            ("ProBurstLimit", "120"),
            ("ProfileRateLimit", "1"),
            ("ProfileBurstLimit", "20"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let options = Options { parameters, ..Options::for_tests() };
    let cloud = Cloud::start(options).await.unwrap();
    cloud.record_no_items().await.unwrap();
    let keys = cloud.keys().unwrap();
    let keys = [
        ("API_KEY", keys.pro.expose()),
        ("LAPSED_API_KEY", keys.lapsed.expose()),
        ("REVOKED_API_KEY", keys.revoked.expose()),
    ];
    let (output, messages, code) = check(&cloud.url(), &keys, &[]);
    assert_eq!((messages.as_str(), code), ("", 0), "{output}");
    assert!(output.starts_with("pass  OpenAPI document is served\npass  "), "{output}");
    assert!(output.contains(" passed, 0 failed, 3 skipped; "), "{output}");

    let server = cloud.url().replace("http://", "");
    let (url, _requests) = serve(move |request| broken(&server, request));
    let (output, _, code) = check(&url, &keys, &["--throttle", "--json"]);
    let report: Value = serde_json::from_str(&output).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["outcome"] == "failed");
    let names: BTreeSet<_> = failed.map(|check| check["name"].as_str().unwrap()).collect();
    let expected = BREAKAGES.iter().flat_map(|(.., checks)| *checks).copied();
    assert_eq!((names, code), (expected.collect(), 1), "{output}");
}

#[test]
fn no_key_is_printed_or_part_of_a_url() {
    let (url, received) = serve(|request| {
        let body = if request.starts_with("GET /openapi.json") { DOCUMENT } else { request };
        response("200 OK", "", body)
    });
    let keys = [("LAPSED_API_KEY", KEY), ("REVOKED_API_KEY", KEY)];
    let (output, _, code) = check(&url, &keys, &["--throttle"]);
    assert!(output.contains("gd_…"), "no response of the server is quoted: {output}");
    let requests: Vec<String> = received.try_iter().collect();
    assert!(code == 1 && requests.iter().any(|request| request.contains(KEY)));
    // URLs end up in logs, so no URL may hold a key.
    assert!(requests.iter().all(|request| !request.lines().next().unwrap().contains("gd_")));
}

#[test]
fn another_service_gets_no_key_and_a_429_is_repeated_once_after_a_short_wait() {
    for (headers, expected) in [("retry-after: 0\r\n", 2), ("retry-after: 3600\r\n", 1), ("", 1)] {
        let (url, received) = serve(move |_| response("429 X", headers, "hello"));
        let (output, messages, code) = check(&url, &[], &[]);
        assert_eq!((messages.as_str(), code), ("", 1));
        let failed = "FAIL  OpenAPI document is served\n      expected an OpenAPI document\n";
        assert!(output.starts_with(failed), "{output}");
        let requests: Vec<String> = received.try_iter().collect();
        assert!(requests.len() == expected && !requests.concat().contains(KEY), "{requests:?}");
    }
}

#[test]
fn an_invalid_command_line_and_a_missing_service_are_errors() {
    let url = "http://127.0.0.1:9";
    for (url, key, arguments, expected, code) in [
        ("127.0.0.1:9", KEY, &[][..], "must be a URL like https://", 2),
        (url, " ", &[], "an API key is required, on standard input or in", 2),
        (url, "secret", &[], "API_KEY has no valid API key: ", 2),
        (url, KEY, &["--key", KEY], "unexpected argument", 2),
        (url, KEY, &[], "error: no response to GET /openapi.json: ", 1),
    ] {
        let (output, messages, ended) = check(url, &[("API_KEY", key)], arguments);
        assert_eq!((output.as_str(), ended), ("", code), "{arguments:?}: {messages}");
        assert!(messages.contains(expected) && !messages.contains("secret"), "{arguments:?}: {messages}");
    }
}
