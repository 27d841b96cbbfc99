//! A command that cannot work fails, with one line that says what to do.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use crate::support::{DynamoDb, fed, file, history, messages, path, text};

const MAYOR: &str = r#"{"year":1,"name":"N","key":"k","perks":[]}"#;

/// The command must fail, with one line that contains `reason`.
#[track_caller]
fn assert_fails(command: &mut std::process::Command, reason: &str) {
    let output = fed(command, MAYOR.as_bytes());
    let messages = messages(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.starts_with("error: ") && messages.contains(reason), "{messages}");
    assert_eq!(messages.lines().count(), 1, "{messages}");
}

#[test]
fn a_missing_table_is_an_error() {
    let dynamodb = DynamoDb::start();
    for arguments in [["import", "mayors"], ["export", "mayors"], ["export", "bazaar"]] {
        assert_fails(
            dynamodb.history(&arguments).args(["-", "--table", "Missing"]),
            "ResourceNotFoundException: Requested resource not found; check the name of the table (--stack, \
             --table, HISTORY_TABLE or ACCESS_TABLE), the region and AWS_ENDPOINT_URL_DYNAMODB",
        );
    }
}

#[test]
fn an_endpoint_that_refuses_connections_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_fails(
        &mut history(&endpoint, &["import", "mayors", "-"]),
        "; check the network, AWS_ENDPOINT_URL_DYNAMODB",
    );
}

#[test]
fn an_endpoint_that_does_not_respond_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    assert_fails(
        &mut history(&endpoint, &["import", "mayors", "-"]),
        "the table History did not answer PutItem in time; check the network",
    );
}

#[test]
fn an_interrupted_export_leaves_nothing_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let file = path("mayors.ndjson");
    let mut export = history(&endpoint, &["export", "mayors", text(&file)]);
    let child = export.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let beside = || std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    while beside() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The command has sent a request, and listens for signals.
    drop(listener.accept().unwrap());
    let signal = ["-TERM", &child.id().to_string()];
    assert!(std::process::Command::new("kill").args(signal).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(messages(&output), "error: interrupted; run the same command again to do the rest\n");
    assert_eq!(beside(), 0);
}

#[test]
fn an_invalid_endpoint_is_an_error() {
    for endpoint in ["127.0.0.1:8000", "here", "ftp://127.0.0.1"] {
        assert_fails(
            &mut history(endpoint, &["export", "mayors", "-"]),
            "the environment variable AWS_ENDPOINT_URL_DYNAMODB must be an http or https address",
        );
    }
}

#[test]
fn an_empty_endpoint_is_ignored() {
    let dynamodb = DynamoDb::start();
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "eu-central-1")];
    let mut command = history("", &["import", "mayors", "-"]);
    let output = fed(command.envs(keys).env("AWS_ENDPOINT_URL", &dynamodb.endpoint), MAYOR.as_bytes());
    assert_eq!(messages(&output), "imported 1, already there 0, too old 0, bad lines 0\n");
}

#[test]
fn all_empty_endpoints_are_ignored() {
    let dynamodb = DynamoDb::start();
    let mut command = dynamodb.history(&["import", "mayors", "-"]);
    let output = fed(command.env("AWS_ENDPOINT_URL", ""), MAYOR.as_bytes());
    assert_eq!(messages(&output), "imported 1, already there 0, too old 0, bad lines 0\n");
    assert_fails(
        history("", &["export", "mayors", "-"]).env("AWS_ENDPOINT_URL", ""),
        "no AWS region is known: set AWS_REGION",
    );
    // Nothing listens there, and the program must not panic.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let unreachable = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut command = history("", &["export", "mayors", "-", "--stack", "live"]);
    assert_fails(
        command.env("AWS_ENDPOINT_URL", unreachable).env("AWS_ENDPOINT_URL_CLOUDFORMATION", ""),
        "CloudFormation failed at DescribeStacks: ",
    );
}

#[test]
fn the_endpoint_of_dynamodb_is_only_for_dynamodb() {
    const NO_STACK: &str = "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>\
                        <Message>Stack with id live does not exist</Message></Error></ErrorResponse>";
    let dynamodb = DynamoDb::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let everything_else = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let length = stream.read(&mut [0; 4096]).unwrap();
        assert!(length > 0);
        let head =
            format!("HTTP/1.1 400 X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", NO_STACK.len());
        stream.write_all((head + NO_STACK).as_bytes()).unwrap();
    });
    let mut command = dynamodb.history(&["export", "mayors", "-", "--stack", "live"]);
    assert_fails(
        command.env("AWS_ENDPOINT_URL", everything_else),
        "there is no stack live in us-east-1; check --stack, the region (AWS_REGION) and the profile (AWS_PROFILE)",
    );
}

#[test]
fn no_region_and_no_credentials() {
    assert_fails(&mut history("", &["export", "mayors", "-"]), "no AWS region is known: set AWS_REGION");
    assert_fails(
        history("", &["export", "mayors", "-"]).env("AWS_REGION", "eu-central-1"),
        "no AWS credentials can be used (",
    );
}

#[test]
fn a_missing_file_is_an_error() {
    let dynamodb = DynamoDb::start();
    assert_fails(
        &mut dynamodb.history(&["import", "mayors", "/nowhere/mayors.ndjson"]),
        "cannot read /nowhere/mayors.ndjson: No such file or directory",
    );
    assert_fails(&mut dynamodb.history(&["import", "mayors", "/"]), "cannot read /: Is a directory");
    assert_fails(
        &mut dynamodb.history(&["export", "mayors", "/nowhere/mayors.ndjson"]),
        "cannot write /nowhere/mayors.ndjson: No such file or directory",
    );
}

#[test]
fn an_invalid_command_line_has_an_exit_code_of_its_own() {
    for (arguments, expected) in [
        (&["import", "pets", "-"][..], "[possible values: mayors, fire-sales, bazaar, candles]"),
        (&["import", "mayors"], "<FILE>"),
        (&["export", "mayors", "-", "--table", "A", "--stack", "b"], "cannot be used with"),
        (&[], "Usage: cargo admin history"),
    ] {
        let output = history("", arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(messages(&output).contains(expected), "{}", messages(&output));
    }
}

#[test]
fn a_corrupt_row_is_named_and_the_others_are_exported() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("mayors", "History", MAYOR.as_bytes());
    dynamodb
        .put("History", &serde_json::json!({"pk": {"S": "mayors"}, "sk": {"S": "0002"}, "name": {"N": "1"}}));
    let output = dynamodb.history(&["export", "mayors", "-"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), format!("{MAYOR}\n"));
    let messages = messages(&output);
    assert!(
        messages.contains("a corrupt row is skipped") && messages.contains("sort_key=\"0002\""),
        "{messages}"
    );
    assert!(messages.ends_with("\nexported 1\n"), "{messages}");
}

/// An endpoint that throttles the first requests and accepts the rest.
fn busy(requests: usize) -> String {
    const THROTTLED: &str =
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow"}"#;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for number in 0.. {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            // The body is the last object of the request.
            while !request.ends_with(b"}") {
                let length = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..length]);
            }
            let (status, body) = if number < requests { (400, THROTTLED) } else { (200, "{}") };
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).unwrap();
        }
    });
    endpoint
}

#[test]
fn a_throttled_import_is_retried() {
    let file = file("mayors.ndjson", MAYOR);
    let output = history(&busy(7), &["import", "mayors", text(&file)]).output().unwrap();
    assert_eq!(messages(&output), "imported 1, already there 0, too old 0, bad lines 0\n");
}
