//! `cargo admin check`, as operators run it: its exit codes and outputs, what it sends to servers that are not this service, and
//! a local cloud, which keeps every promise. `src/check/tests.rs` breaks each promise.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};

use local::{Cloud, Options};
use serde_json::Value;

/// A key that has not been issued.
const KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";
const DOCUMENT: &str = include_str!("../../../functions/index/openapi.json");

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admin"));
    command.arg("check").args(arguments).stdin(Stdio::null());
    for variable in ["API_KEY", "LAPSED_API_KEY", "REVOKED_API_KEY"] {
        command.env_remove(variable);
    }
    command
}

/// The program with the key in the environment.
fn with_key(arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.env("API_KEY", format!("{KEY}\n"));
    command
}

/// Standard output, standard error and exit code. Neither output may contain the key.
#[track_caller]
fn outcome(output: &Output) -> (String, String, i32) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (output, messages, code) =
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap());
    assert!(!output.contains(&KEY[3..20]) && !messages.contains(&KEY[3..20]), "{output}{messages}");
    (output, messages, code)
}

/// A server with this response to each request; it hangs up instead of sending an empty one. Returns its URL and the requests.
fn serve(response: impl Fn(&str) -> String + Send + 'static) -> (String, Receiver<String>) {
    let (sender, requests) = mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // The program may close the connection early.
            let _ = stream.and_then(|mut stream: TcpStream| {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request)?;
                request.truncate(length);
                let request = String::from_utf8_lossy(&request).into_owned();
                stream.write_all(response(&request).as_bytes())?;
                let _ = sender.send(request);
                Ok(())
            });
        }
    });
    (format!("http://{address}"), requests)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A server of the document, with this response to all other requests.
fn serve_document(others: impl Fn(&str) -> String + Send + 'static) -> (String, Receiver<String>) {
    serve(
        move |request| {
            if request.starts_with("GET /openapi.json") { ok(DOCUMENT) } else { others(request) }
        },
    )
}

/// A file with this content.
fn file(name: &str, content: &str) -> String {
    let path = format!("{}/check-{name}-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn an_invalid_command_line_has_an_exit_code_of_its_own() {
    let url = "http://127.0.0.1:9";
    let (wrong, mistyped) = (file("wrong", "secret\n"), file("mistyped", &KEY.replace('J', "K")));
    let good = file("good", KEY);
    for (url, arguments, expected) in [
        ("127.0.0.1:9", &["--key-file", &good][..], "must be a URL like https://"),
        ("https://a:b@x.example", &["--key-file", &good], "must have no user name"),
        (url, &[], "an API key is required: --key - with"),
        (url, &["--key", KEY], "every user of this machine can see arguments"),
        (url, &["--key", "secret"], "every user of this machine can see arguments"),
        (url, &["--key", "-"], "an API key is required"),
        (url, &["--key", "-", "--key-file", &good], "cannot be used with"),
        (url, &["--key-file", &wrong], "--key-file has no valid API key: "),
        (url, &["--key-file", &mistyped], "its checksum is wrong"),
        (url, &["--key-file", &good, "--lapsed-key", KEY], "unexpected argument"),
        (url, &["--key-file", &good, "--lapsed-key-file", &wrong], "--lapsed-key-file has no valid API key"),
        (
            url,
            &["--key-file", &good, "--revoked-key-file", &wrong],
            "--revoked-key-file has no valid API key",
        ),
        (url, &["--key-file", &good, "--player", "not.a.name"], "--player"),
        (url, &["--key-file", &good, "--rate", "fast"], "--rate"),
    ] {
        let (output, messages, code) = outcome(&command(&["--url", url]).args(arguments).output().unwrap());
        assert_eq!((output.as_str(), code), ("", 2), "{arguments:?}: {messages}");
        assert!(messages.contains(expected) && !messages.contains("secret"), "{arguments:?}: {messages}");
    }
    for variable in ["API_KEY", "LAPSED_API_KEY", "REVOKED_API_KEY"] {
        let output = with_key(&["--url", url]).env(variable, "secret").output().unwrap();
        let (output, messages, code) = outcome(&output);
        assert_eq!((output.as_str(), code), ("", 2), "{variable}: {messages}");
        assert_eq!(messages.split(':').nth(1), Some(format!(" {variable} has no valid API key").as_str()));
    }
    let output = command(&["--url", url, "--key-file", "/no/file"]).output().unwrap();
    let (_, messages, code) = outcome(&output);
    assert_eq!((messages.starts_with("error: cannot read /no/file: "), code), (true, 1), "{messages}");
}

#[test]
fn an_unreachable_service_is_one_line_wherever_the_key_comes_from() {
    let url = ["--url", "http://127.0.0.1:9"];
    let from_file = file("first-line", &format!(" {KEY}\r\nanything\n"));
    let mut child = command(&[&url[..], &["--key", "-"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    for output in [
        with_key(&url).output().unwrap(),
        with_key(&["--url", "http://service.invalid"]).output().unwrap(),
        command(&[&url[..], &["--key-file", &from_file]].concat()).output().unwrap(),
        child.wait_with_output().unwrap(),
    ] {
        let (output, messages, code) = outcome(&output);
        assert_eq!((output.as_str(), code, messages.lines().count()), ("", 1, 1), "{messages}");
        assert!(messages.starts_with("error: no response to GET /openapi.json: "), "{messages}");
    }
}

#[test]
fn another_service_gets_no_key() {
    let (url, requests) = serve(|_| ok("hello"));
    let (output, messages, code) = outcome(&with_key(&["--url", &url]).output().unwrap());
    assert_eq!((messages.as_str(), code), ("", 1));
    let is_told = "FAIL  OpenAPI document is served\n      expected a JSON body\n      received ";
    assert!(output.starts_with(is_told) && !output.contains("pass  "), "{output}");
    assert!(output.contains("--url must be the base URL of this one"), "{output}");
    let requests: Vec<String> = requests.try_iter().collect();
    assert!(requests.len() == 1 && !requests[0].contains(KEY), "{requests:?}");
}

#[test]
fn a_document_cannot_lead_to_another_host() {
    let (elsewhere, requests) = serve(|_| ok("{}"));
    let elsewhere = elsewhere.replace("http://", "@");
    let misled = DOCUMENT
        .replace("GET /v1/mayor", &format!("GET {elsewhere}/v1/mayor"))
        .replace("\"/v1/profile/{username}\"", &format!("\"{elsewhere}/{{username}}\""));
    let (url, _requests) = serve(move |_| ok(&misled));
    let arguments = ["--url", &url, "--rate", "1000", "--player", "Notch"];
    let (output, _, code) = outcome(&with_key(&arguments).output().unwrap());
    assert_eq!(code, 1);
    for request in [format!("{elsewhere}/v1/mayor"), format!("{elsewhere}/Notch")] {
        let expected = format!("GET {request}: not sent, because the path does not begin with /");
        assert!(output.contains(&expected), "{output}");
    }
    assert_eq!(requests.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_server_that_echoes_requests_keeps_no_promise_and_no_key_is_printed_or_part_of_a_url() {
    let (url, requests) = serve_document(ok);
    let file = file("rejected", KEY);
    let keys = ["--lapsed-key-file", &file, "--revoked-key-file", &file];
    let arguments = [&["--url", &url, "--rate", "1000", "--throttle", "--json"][..], &keys].concat();
    let (output, _, code) = outcome(&with_key(&arguments).output().unwrap());
    let report: Value = serde_json::from_str(&output).unwrap();
    // The document is served, and is that of this version.
    assert_eq!((code, &report["passed"], &report["skipped"]), (1, &2.into(), &1.into()), "{output}");
    assert!(output.contains("gd_…"), "no response of the server is quoted: {output}");
    for check in report["checks"].as_array().unwrap() {
        let field = |name: &str| check[name].is_string();
        let is_complete = match check["outcome"].as_str().unwrap() {
            "failed" => field("expected") && field("received") && check["reason"].is_null(),
            "skipped" => check["name"] == "response GET /v1/bazaar/candles/all",
            outcome => {
                outcome == "passed" && check["name"].as_str().unwrap().starts_with("OpenAPI document ")
            }
        };
        assert!(is_complete && field("name"), "{check}");
    }
    let requests: Vec<String> = requests.try_iter().collect();
    assert!(requests.iter().any(|request| request.contains(&format!("X-Api-Key: {KEY}"))));
    // Logs keep URLs.
    assert!(requests.iter().all(|request| !request.lines().next().unwrap().contains("gd_")));
}

#[test]
fn a_429_is_retried_unless_retry_after_is_long() {
    let is_first = AtomicBool::new(true);
    let (url, _requests) = serve_document(move |_| {
        let seconds = if is_first.swap(false, Ordering::Relaxed) { 1 } else { 3600 };
        let status = "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 0\r\n";
        format!("{status}retry-after: {seconds}\r\n\r\n")
    });
    let (output, _, code) =
        outcome(&with_key(&["--url", &url, "--rate", "1000", "--json"]).output().unwrap());
    let report: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &report["passed"], &report["throttled"]), (1, &2.into(), &1.into()), "{output}");
}

#[test]
fn no_requests_are_sent_during_an_outage() {
    let (url, requests) = serve_document(|_| String::new());
    let (output, _, code) = outcome(&with_key(&["--url", &url, "--rate", "1000"]).output().unwrap());
    assert_eq!(code, 1);
    assert!(output.contains("not sent, because the last 3 requests had no response"), "{output}");
    // Two failures come before the second request for the document, and three after it.
    assert_eq!(requests.try_iter().count(), 7, "{output}");
}

#[tokio::test]
async fn a_local_cloud_keeps_every_promise() {
    let off = [("GatewayCache", "off"), ("Pages", "off")];
    let parameters = off.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let cloud = Cloud::start(Options { parameters, ..Options::for_tests() }).await.unwrap();
    cloud.record_no_auctions().await.unwrap();
    let pro = &cloud.keys().unwrap().pro;
    let (url, key) = (cloud.url(), pro.expose().to_owned());
    let run = move || command(&["--url", &url, "--rate", "1000"]).env("API_KEY", key).output().unwrap();
    let (output, messages, code) = outcome(&tokio::task::spawn_blocking(run).await.unwrap());
    assert_eq!((messages.as_str(), code), ("", 0), "{output}");
    assert!(output.starts_with("pass  OpenAPI document is served\npass  "), "{output}");
    assert!(!output.contains(pro.expose()), "{output}");
    assert!(output.contains("\nskip  page GET /market: the pages are switched off\n"), "{output}");
    let last = output.lines().last().unwrap();
    assert!(last.contains(" passed, 0 failed, 10 skipped; ") && last.ends_with(" requests"), "{last}");
}
