//! `cargo local` starts every server that it prints, ends cleanly on Ctrl-C, and reports a port in use in one
//! sentence. The gateway and Lambda's Invoke API share the functions' instances.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use common::routes::{AUCTIONS_LISTINGS, AUCTIONS_PRICES, BAZAAR_CANDLES_ALL, NAMES};
use hyper::{Method, StatusCode};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};

use crate::support::{cargo, event, examples, get, invoke, send, send_with, start};

/// How long the build and the start may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(30);

fn cargo_local(options: &[&str]) -> Command {
    let mut command = cargo("local", options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // As at a terminal, the command has its own process group, to which the test sends Ctrl-C.
    command.process_group(0);
    command
}

/// The children of the process `leader`, and their descendants.
fn descendants(leader: u32) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let status = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may contain anything. The state and the parent follow it.
            let parent = status.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((id, parent))
        })
        .collect();
    let mut found = BTreeSet::from([leader]);
    loop {
        let more: Vec<_> =
            parents.iter().filter(|(id, parent)| found.contains(parent) && !found.contains(id)).collect();
        if more.is_empty() {
            found.remove(&leader);
            return found;
        }
        found.extend(more.into_iter().map(|(id, _)| *id));
    }
}

fn is_running(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A process that has ended stays a zombie until its parent waits for it.
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The output of `cargo local` until it is ready.
#[derive(Debug)]
struct Greeting {
    table: Vec<String>,
    /// The name and the key of each line `key NAME KEY`.
    keys: Vec<Vec<String>>,
    upstream: String,
    dynamodb: String,
    lambda: String,
    files: String,
    docs: String,
    market: String,
    ready: String,
}

async fn greeting(output: &mut Lines<BufReader<ChildStdout>>) -> Greeting {
    let mut lines = Vec::new();
    loop {
        let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap();
        lines.push(line.unwrap_or_else(|| panic!("cargo local ended after {lines:#?}")));
        if lines.last().unwrap().starts_with("ready ") {
            break;
        }
    }
    let key_lines = lines.extract_if(.., |line| line.starts_with("key "));
    let keys = key_lines.map(|line| line.split(' ').skip(1).map(str::to_owned).collect()).collect();
    let mut address = |word: &str| {
        let line = lines.pop().unwrap();
        line.strip_prefix(word).unwrap_or_else(|| panic!("{word} is not in {line}")).to_owned()
    };
    let [ready, market, docs, files, lambda, dynamodb, upstream] =
        ["ready ", "market ", "docs ", "files ", "lambda ", "dynamodb ", "upstream "].map(&mut address);
    Greeting { table: lines, keys, upstream, dynamodb, lambda, files, docs, market, ready }
}

async fn interrupt(child: &mut Child) {
    // Ctrl-C goes to the whole group, including Cargo.
    let group = format!("-{}", child.id().unwrap());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status().await.unwrap();
    assert!(sent.success());
}

#[tokio::test]
async fn cargo_local_starts_every_server_it_prints_and_ctrl_c_ends_every_process() {
    let quiet = ["--port", "0", "--no-schedules", "--history", "0", "--concurrency", "1"];
    let mut child = cargo_local(&quiet).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let Greeting { table, keys, upstream, dynamodb, lambda, files, docs, market, ready } =
        greeting(&mut output).await;
    assert_eq!(files, format!("{ready}/public"));
    assert_eq!(docs, format!("{ready}/docs"));
    assert_eq!(market, format!("{ready}/market?item=ENCHANTED_DIAMOND#key={}", keys[1][1]));
    for page in [docs.as_str(), market.split('#').next().unwrap()] {
        assert_eq!(send(page, Method::GET, "").await.status, StatusCode::OK, "{page}");
        output.next_line().await.unwrap();
    }
    for (key, (name, code)) in keys.iter().zip([
        ("starter", None),
        ("pro", None),
        ("lapsed", Some("FORBIDDEN")),
        ("revoked", Some("UNAUTHORIZED")),
    ]) {
        assert_eq!(key[0], name);
        let response = send_with(&ready, Method::GET, "/v1/bazaar?mode=x", &[("x-api-key", &key[1])]).await;
        response.error(code.unwrap_or("BAD_REQUEST"));
        // Consumes the line about the request.
        output.next_line().await.unwrap();
    }
    assert_eq!(keys.len(), 4, "{keys:?}");
    expect_table(&table, &ready, &mut output).await;
    assert_eq!(send(&upstream, Method::GET, "/v2/skyblock/firesales").await.status, StatusCode::OK);
    assert_eq!(send(&lambda, Method::GET, "/").await.status, StatusCode::NOT_FOUND);
    assert!(send(&dynamodb, Method::GET, "/").await.text.contains("dynamodb"));

    let processes = descendants(child.id().unwrap());
    assert!(processes.len() >= examples().count(), "{processes:?}");
    interrupt(&mut child).await;
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
    let ended = async {
        while processes.iter().any(|process| is_running(*process)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

/// Panics unless the table has every example, and every example's command works and prints a line.
async fn expect_table(table: &[String], ready: &str, output: &mut Lines<BufReader<ChildStdout>>) {
    for example in examples() {
        let row = table.iter().find(|row| row.split_whitespace().nth(1) == Some(example.route.path)).unwrap();
        assert_eq!(row.split_whitespace().next(), Some("GET"), "{row}");
        assert!(row.contains(&format!(" {} s ", example.route.cache.as_secs())), "{row}");
        // Sends the request of the curl command in the table.
        let (headers, url) = command(row);
        assert!(url.starts_with(ready), "{row}");
        let pairs: Vec<_> = headers.iter().map(|header| header.split_once(": ").unwrap()).collect();
        assert_eq!(pairs.len(), usize::from(example.route.requires_key), "{row}");
        assert!(pairs.iter().all(|(name, _)| *name == "X-API-Key"), "{row}");
        let response = send_with("", Method::GET, url, &pairs).await;
        // Nothing is recorded, so prices and running auctions and names are a 500, and the candles of all
        // products a 404.
        let status = match example.route.function {
            function
                if [AUCTIONS_PRICES, AUCTIONS_LISTINGS, NAMES]
                    .map(|route| route.function)
                    .contains(&function) =>
            {
                500
            }
            function if function == BAZAAR_CANDLES_ALL.function => 404,
            _ => 200,
        };
        assert_eq!(response.status.as_u16(), status, "{row}");
        assert!(status != 200 || !response.cached(), "{row}");

        let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap().unwrap();
        let path = url[ready.len()..].split('?').next().unwrap();
        assert!(line.starts_with(&format!("GET {path} {status} ")), "{line}");
        assert!(line.ends_with(example.route.function), "{line}");
    }
}

/// The headers and the URL in a command `curl -H 'NAME: VALUE' 'URL'`.
#[track_caller]
fn command(row: &str) -> (Vec<&str>, &str) {
    let mut quoted: Vec<_> = row.split('\'').skip(1).step_by(2).collect();
    let url = quoted.pop().unwrap();
    (quoted, url)
}

#[tokio::test]
async fn a_port_in_use_is_reported_in_one_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let all = ["--port", "--lambda-port", "--dynamodb-port"];
    for option in all {
        let of = |name: &'static str| [name, if name == option { port.as_str() } else { "0" }];
        let output = cargo_local(&all.map(of).concat()).output();
        let output = tokio::time::timeout(PATIENCE, output).await.unwrap().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
        let stderr = String::from_utf8(output.stderr).unwrap();
        // Cargo's own lines come first.
        let errors = stderr.lines().filter(|line| line.starts_with("error")).collect::<Vec<_>>();
        let [sentence] = errors[..] else { panic!("expected one sentence: {stderr}") };
        assert_eq!(stderr.lines().last(), Some(sentence));
        assert!(sentence.contains(&port) && sentence.contains(option), "{sentence}");
    }
}

#[tokio::test]
async fn the_gateway_and_the_invoke_api_share_the_instances() {
    let cloud = start().await;
    assert!(!get(&cloud, "/v1/mayor").await.cached());
    let (_, event) = event("/v1/mayor", cloud.clock().now_ms());
    for name in ["MayorFunction", "mayor"] {
        let response = invoke(&cloud, name, event.clone()).await.json();
        let body = response["body"].as_str().unwrap_or_else(|| panic!("{name}: {response}"));
        assert!(body.contains(r#""cached":true"#), "{name}: {body}");
    }
}
