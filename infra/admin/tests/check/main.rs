//! `cargo admin check` where there is no deployment to check. What it says of deployments, and of those that break a
//! promise, is tested in `tests/check` of the repository.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::Value;

/// A key that nobody has issued.
const KEY: &str = "gd_0123456789ABCDEFGHIJabcdefghij010ZX4ni";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_admin"));
    command.arg("check").args(arguments).env_remove("API_KEY").stdin(Stdio::null());
    command
}

/// What the command writes to standard output and to standard error, and how it ends. There is no key in it.
#[track_caller]
fn said(output: &Output) -> (String, String, i32) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (output, aside, code) = (text(&output.stdout), text(&output.stderr), output.status.code().unwrap());
    assert!(!output.contains(&KEY[3..20]) && !aside.contains(&KEY[3..20]), "{output}{aside}");
    (output, aside, code)
}

/// A server that answers every request alike; its address, and the requests.
fn serve(answer: impl Into<String>) -> (String, Receiver<String>) {
    let (answer, (sender, requests)) = (answer.into(), mpsc::channel());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Whoever hangs up has seen enough.
            let _ = stream.and_then(|mut stream: TcpStream| {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request)?;
                request.truncate(length);
                let _ = sender.send(String::from_utf8_lossy(&request).into_owned());
                stream.write_all(answer.as_bytes())
            });
        }
    });
    (format!("http://{address}"), requests)
}

#[test]
fn a_wrong_command_line_is_told_from_a_failed_check() {
    let url = ["--url", "http://127.0.0.1:9"];
    for (arguments, expected) in [
        (&[][..], "--url"),
        (&["--url", "127.0.0.1:9", "--key", KEY], "must be a URL like https://"),
        (&["--url", "ftp://x.example", "--key", KEY], "must begin with https:// or http://"),
        (&["--url", "https://x.example/?a", "--key", KEY], "must have no query"),
        (&["--url", "https://a:b@x.example", "--key", KEY], "must have no user name"),
        (&url, "an API key is required: --key KEY, --key -"),
        (&[&url[..], &["--key", "secret"]].concat(), "--key has no valid API key: "),
        (&[&url[..], &["--key", &KEY.replace('J', "K")]].concat(), "its checksum is wrong"),
        (
            &[&url[..], &["--key", KEY, "--lapsed-key", "secret"]].concat(),
            "--lapsed-key has no valid API key",
        ),
        (
            &[&url[..], &["--key", KEY, "--revoked-key", "secret"]].concat(),
            "--revoked-key has no valid API key",
        ),
        (&[&url[..], &["--key", KEY, "--player", "not.a.name"]].concat(), "--player"),
        (&[&url[..], &["--key", KEY, "--requests", "0"]].concat(), "--requests"),
        (&[&url[..], &["--key", KEY, "--rate", "fast"]].concat(), "--rate"),
    ] {
        let (output, aside, code) = said(&command(arguments).output().unwrap());
        assert_eq!((output.as_str(), code), ("", 2), "{arguments:?}: {aside}");
        assert!(aside.contains(expected) && !aside.contains("secret"), "{arguments:?}: {aside}");
    }
}

#[test]
fn nobody_to_ask_is_one_sentence() {
    let expected = |aside: &str| {
        aside.starts_with("error: no response to GET /openapi.json: ") && aside.lines().count() == 1
    };
    let (hangs_up, _requests) = serve("");
    for url in ["http://127.0.0.1:9", "http://nobody.invalid", &hangs_up] {
        let (output, aside, code) = said(&command(&["--url", url, "--key", KEY]).output().unwrap());
        assert_eq!((output.as_str(), code), ("", 1), "{aside}");
        assert!(expected(&aside), "{aside}");
    }
    // The key from wherever it may come.
    let output =
        command(&["--url", "http://127.0.0.1:9"]).env("API_KEY", format!("{KEY}\n")).output().unwrap();
    assert!(expected(&said(&output).1));
    let mut child = command(&["--url", "http://127.0.0.1:9", "--key", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    assert!(expected(&said(&child.wait_with_output().unwrap()).1));
}

/// An answer with this API description.
fn described(description: &str) -> String {
    let length = description.len();
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{description}")
}

#[test]
fn somebody_elses_server_gets_no_key() {
    let (url, requests) = serve("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello");
    let (output, aside, code) = said(&command(&["--url", &url, "--key", KEY]).output().unwrap());
    assert_eq!((aside.as_str(), code), ("", 1));
    assert!(!output.contains("pass  "), "{output}");
    let is_told = "FAIL  description is served\n      expected a JSON body\n      came     ";
    assert!(output.starts_with(is_told), "{output}");
    assert!(output.contains("--url must be its base address"), "{output}");
    let requests: Vec<String> = requests.try_iter().collect();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].contains(KEY), "{requests:?}");
}

#[test]
fn a_description_cannot_lead_to_another_host() {
    let (elsewhere, requests) = serve("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}");
    let elsewhere = elsewhere.replace("http://", "@");
    let description = include_str!("../../../../functions/index/openapi.json");
    let misled = description
        .replace("GET /v1/mayor", &format!("GET {elsewhere}/v1/mayor"))
        .replace("\"/v1/profile/{username}\"", &format!("\"{elsewhere}/{{username}}\""));
    let (url, _requests) = serve(described(&misled));
    let arguments = ["--url", &url, "--key", KEY, "--rate", "1000", "--player", "Notch"];
    let (output, _, code) = said(&command(&arguments).output().unwrap());
    assert_eq!(code, 1);
    for request in [format!("{elsewhere}/v1/mayor"), format!("{elsewhere}/Notch")] {
        assert!(output.contains(&format!("GET {request}: not asked, because that is no path")), "{output}");
    }
    assert_eq!(requests.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_server_with_nothing_but_the_description_keeps_no_other_promise() {
    let description = include_str!("../../../../functions/index/openapi.json");
    let (url, _requests) = serve(described(description));
    let arguments =
        ["--url", &url, "--key", KEY, "--rate", "1000", "--lapsed-key", KEY, "--revoked-key", KEY, "--json"];
    let (output, _, code) = said(&command(&arguments).output().unwrap());
    assert_eq!(code, 1);
    let document: Value = serde_json::from_str(&output).unwrap();
    // That it is served, and that it is of this version.
    assert_eq!(document["passed"], 2, "{output}");
    let checks = document["checks"].as_array().unwrap();
    assert!(checks.len() > 80, "{}", checks.len());
    for check in checks {
        let field = |name: &str| check[name].is_string();
        let is_complete = match check["outcome"].as_str().unwrap() {
            "failed" => field("expected") && field("came") && check["reason"].is_null(),
            "skipped" => field("reason") && check["came"].is_null(),
            "passed" => check["name"].as_str().unwrap().starts_with("description "),
            other => other.is_empty(),
        };
        assert!(is_complete && field("name"), "{check}");
    }
    for observation in document["observations"].as_array().unwrap() {
        assert!(observation["name"].is_string() && observation["value"].is_string(), "{observation}");
    }
    assert!(document["latency"][0]["first"]["p50_ms"].is_number(), "{}", document["latency"]);
}
