//! `cargo admin check` without a deployment, and against servers that are not this service.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::Value;

/// A key that has not been issued.
const KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admin"));
    command.arg("check").args(arguments).stdin(Stdio::null());
    for variable in ["API_KEY", "LAPSED_API_KEY", "REVOKED_API_KEY"] {
        command.env_remove(variable);
    }
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

/// A server with the same response to every request: its URL, and the requests.
fn serve(response: impl Into<String>) -> (String, Receiver<String>) {
    let (response, (sender, requests)) = (response.into(), mpsc::channel());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // The program may close the connection early.
            let _ = stream.and_then(|mut stream: TcpStream| {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request)?;
                request.truncate(length);
                let _ = sender.send(String::from_utf8_lossy(&request).into_owned());
                stream.write_all(response.as_bytes())
            });
        }
    });
    (format!("http://{address}"), requests)
}

/// The program with the key in the environment.
fn with_key(arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.env("API_KEY", format!("{KEY}\n"));
    command
}

/// A file with this content.
fn file(name: &str, content: &str) -> String {
    let path = format!("{}/check-{name}-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn an_invalid_command_line_has_an_exit_code_of_its_own() {
    let url = ["--url", "http://127.0.0.1:9"];
    let wrong = file("wrong", "secret\n");
    let mistyped = file("mistyped", &KEY.replace('J', "K"));
    let good = file("good", KEY);
    for (arguments, expected) in [
        (&[][..], "--url"),
        (&["--url", "127.0.0.1:9", "--key-file", &good], "must be a URL like https://"),
        (&["--url", "ftp://x.example", "--key-file", &good], "must begin with https:// or http://"),
        (&["--url", "https://x.example/?a", "--key-file", &good], "must have no query"),
        (&["--url", "https://a:b@x.example", "--key-file", &good], "must have no user name"),
        (&url, "an API key is required: --key - with"),
        (&[&url[..], &["--key", KEY]].concat(), "every user of this machine can see arguments"),
        (&[&url[..], &["--key", "secret"]].concat(), "every user of this machine can see arguments"),
        (&[&url[..], &["--key", "-"]].concat(), "an API key is required"),
        (&[&url[..], &["--key", "-", "--key-file", &good]].concat(), "cannot be used with"),
        (&[&url[..], &["--key-file", &wrong]].concat(), "--key-file has no valid API key: "),
        (&[&url[..], &["--key-file", &mistyped]].concat(), "its checksum is wrong"),
        (&[&url[..], &["--key-file", &good, "--lapsed-key", KEY]].concat(), "unexpected argument"),
        (
            &[&url[..], &["--key-file", &good, "--lapsed-key-file", &wrong]].concat(),
            "--lapsed-key-file has no valid API key",
        ),
        (
            &[&url[..], &["--key-file", &good, "--revoked-key-file", &wrong]].concat(),
            "--revoked-key-file has no valid API key",
        ),
        (&[&url[..], &["--key-file", &good, "--player", "not.a.name"]].concat(), "--player"),
        (&[&url[..], &["--key-file", &good, "--requests", "0"]].concat(), "--requests"),
        (&[&url[..], &["--key-file", &good, "--rate", "fast"]].concat(), "--rate"),
    ] {
        let (output, messages, code) = outcome(&command(arguments).output().unwrap());
        assert_eq!((output.as_str(), code), ("", 2), "{arguments:?}: {messages}");
        assert!(messages.contains(expected) && !messages.contains("secret"), "{arguments:?}: {messages}");
    }
    for variable in ["API_KEY", "LAPSED_API_KEY", "REVOKED_API_KEY"] {
        let output = with_key(&url).env(variable, "secret").output().unwrap();
        let (output, messages, code) = outcome(&output);
        assert_eq!((output.as_str(), code), ("", 2), "{variable}: {messages}");
        assert_eq!(messages.split(':').nth(1), Some(format!(" {variable} has no valid API key").as_str()));
    }
    let (_, messages, code) =
        outcome(&command(&[&url[..], &["--key-file", "/no/file"]].concat()).output().unwrap());
    assert_eq!((messages.starts_with("error: cannot read /no/file: "), code), (true, 1), "{messages}");
}

#[test]
fn an_unreachable_service_is_one_line() {
    let expected = |messages: &str| {
        messages.starts_with("error: no response to GET /openapi.json: ") && messages.lines().count() == 1
    };
    let (hangs_up, _requests) = serve("");
    for url in ["http://127.0.0.1:9", "http://nobody.invalid", &hangs_up] {
        let (output, messages, code) = outcome(&with_key(&["--url", url]).output().unwrap());
        assert_eq!((output.as_str(), code), ("", 1), "{messages}");
        assert!(expected(&messages), "{messages}");
    }
    // The key may come from a file or standard input, too.
    let from_file = file("first-line", &format!(" {KEY}\r\nanything\n"));
    let output = command(&["--url", "http://127.0.0.1:9", "--key-file", &from_file]).output().unwrap();
    assert!(expected(&outcome(&output).1));
    let mut child = command(&["--url", "http://127.0.0.1:9", "--key", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    assert!(expected(&outcome(&child.wait_with_output().unwrap()).1));
}

/// A response with this OpenAPI document.
fn with_document(document: &str) -> String {
    let length = document.len();
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{document}")
}

#[test]
fn another_service_gets_no_key() {
    let (url, requests) = serve("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello");
    let (output, messages, code) = outcome(&with_key(&["--url", &url]).output().unwrap());
    assert_eq!((messages.as_str(), code), ("", 1));
    assert!(!output.contains("pass  "), "{output}");
    let is_told = "FAIL  OpenAPI document is served\n      expected a JSON body\n      received ";
    assert!(output.starts_with(is_told), "{output}");
    assert!(output.contains("--url must be the base URL of this one"), "{output}");
    let requests: Vec<String> = requests.try_iter().collect();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].contains(KEY), "{requests:?}");
}

#[test]
fn a_document_cannot_lead_to_another_host() {
    let (elsewhere, requests) = serve("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}");
    let elsewhere = elsewhere.replace("http://", "@");
    let document = include_str!("../../../../functions/index/openapi.json");
    let misled = document
        .replace("GET /v1/mayor", &format!("GET {elsewhere}/v1/mayor"))
        .replace("\"/v1/profile/{username}\"", &format!("\"{elsewhere}/{{username}}\""));
    let (url, _requests) = serve(with_document(&misled));
    let arguments = ["--url", &url, "--rate", "1000", "--player", "Notch"];
    let (output, _, code) = outcome(&with_key(&arguments).output().unwrap());
    assert_eq!(code, 1);
    for request in [format!("{elsewhere}/v1/mayor"), format!("{elsewhere}/Notch")] {
        assert!(
            output.contains(&format!("GET {request}: not sent, because the path does not begin with /")),
            "{output}"
        );
    }
    assert_eq!(requests.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_server_with_only_the_document_fails_every_other_check() {
    let document = include_str!("../../../../functions/index/openapi.json");
    let (url, requests) = serve(with_document(document));
    let file = file("rejected", KEY);
    let keys = ["--lapsed-key-file", &file, "--revoked-key-file", &file];
    let arguments = [&["--url", &url, "--rate", "1000", "--json"][..], &keys].concat();
    let (output, _, code) = outcome(&with_key(&arguments).output().unwrap());
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&output).unwrap();
    // The document is served, and is that of this version.
    assert_eq!(report["passed"], 2, "{output}");
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() > 80, "{}", checks.len());
    for check in checks {
        let field = |name: &str| check[name].is_string();
        let is_complete = match check["outcome"].as_str().unwrap() {
            "failed" => field("expected") && field("received") && check["reason"].is_null(),
            "skipped" => field("reason") && check["received"].is_null(),
            "passed" => check["name"].as_str().unwrap().starts_with("OpenAPI document "),
            other => other.is_empty(),
        };
        assert!(is_complete && field("name"), "{check}");
    }
    for observation in report["observations"].as_array().unwrap() {
        assert!(observation["name"].is_string() && observation["value"].is_string(), "{observation}");
    }
    assert!(report["latency"][0]["first"]["p50_ms"].is_number(), "{}", report["latency"]);
    // Logs keep URLs.
    let is_in_url = |request: &String| request.lines().next().is_some_and(|line| line.contains("gd_"));
    assert_eq!(requests.try_iter().find(is_in_url), None);
}
