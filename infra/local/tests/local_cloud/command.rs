//! The program behind `cargo local`, with a fake cargo that returns the parrot for every binary
//! (`examples/parrot.rs`).

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use serde_json::json;

use crate::support::{send, send_json, value_of};

const TIMEOUT: Duration = Duration::from_mins(5);

/// Prints the messages of `cargo build … --package NAME …`, with the parrot for every binary.
const CARGO: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    if [ "$1" = --package ]; then
        echo '{"reason":"compiler-artifact","target":{"name":"'"$2"'"},"executable":"PARROT"}'
    fi
    shift
done
"#;

fn command(test: &str, options: &[&str]) -> Command {
    let tests = std::env::current_exe().unwrap();
    let parrot = tests.parent().unwrap().with_file_name("examples").join("parrot");
    let cargo = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-cargo"));
    std::fs::write(&cargo, CARGO.replace("PARROT", parrot.to_str().unwrap())).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_local"));
    command.args(options).env("CARGO", cargo);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

async fn get(url: &str, target: &str) -> u16 {
    // The parrot, as authorizer, accepts `pro-1` as a key of the tier pro.
    let headers = "host: here\r\nconnection: close\r\nx-api-key: pro-1\r\n";
    send(url, format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes()).await.status
}

/// Attaches the parrot's key to the usage plan of the tier pro.
async fn attach(control_plane: &str, key: &str) {
    let new = json!({"name": key, "value": value_of(key), "enabled": true});
    let created = send_json(control_plane, "POST", "/apikeys", &new).await.json();
    let attached = json!({"keyId": created.get("id"), "keyType": "API_KEY"});
    let response = send_json(control_plane, "POST", "/usageplans/ProUsagePlan/keys", &attached).await;
    assert_eq!(response.status, 201, "{}", response.body);
}

/// Returns the addresses of the API, Lambda and `DynamoDB` that the program prints.
async fn addresses(child: &mut Child) -> [String; 3] {
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = Vec::new();
    while !lines.last().is_some_and(|line: &String| line.starts_with("ready ")) {
        lines.push(tokio::time::timeout(TIMEOUT, output.next_line()).await.unwrap().unwrap().unwrap());
    }
    ["ready ", "lambda ", "dynamodb "]
        .map(|word| lines.iter().find_map(|line| line.strip_prefix(word)).unwrap().to_owned())
}

fn port_of(url: &str) -> u16 {
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn with_port_0_all_ports_are_free_ones_so_two_clouds_run_at_once() {
    let mut children = [0, 1].map(|_| command("free-ports", &["--port", "0"]).spawn().unwrap());
    let mut ports = BTreeSet::new();
    for child in &mut children {
        ports.extend(addresses(child).await.map(|url| port_of(&url)));
    }
    assert!(ports.len() == 6 && !ports.contains(&0), "{ports:?}");
}

#[tokio::test]
async fn a_port_without_two_next_ports_is_one_sentence_and_exit_code_1() {
    for port in ["65534", "65535"] {
        let output = command("highest", &["--port", port]).output().await.unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("error: --port must be at most 65533"), "{message}");
        assert!(message.lines().count() == 1 && message.contains(port), "{message}");
    }
}

#[tokio::test]
async fn the_functions_log_need_not_be_read() {
    let mut child = command("unread", &["--port", "0", "--concurrency", "1"]).spawn().unwrap();
    let [url, lambda, _] = addresses(&mut child).await;
    attach(&lambda, "pro-1").await;
    drop(child.stderr.take());
    assert_eq!(get(&url, "/v1/mayor?say=fail").await, 500);
    // If the output were not drained, the function would fail after a while.
    for _ in 0..100 {
        assert_eq!(get(&url, "/v1/mayor?say=log").await, 200);
    }
}

#[tokio::test]
async fn an_invalid_upstream_is_one_sentence_and_exit_code_1() {
    for url in ["http://", "example.com", "ftp://example.com", "http://127.0.0.1:1/?a=secret"] {
        let output = command("refused", &["--port", "0", "--upstream", url]).output().await.unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("error: --upstream must be a base URL"), "{message}");
        assert!(message.lines().count() == 1 && !message.contains("secret"), "{message}");
    }
}
