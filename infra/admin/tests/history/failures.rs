//! A command that cannot work fails, with one line that says what to do.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use super::support::{DynamoDb, fed, file, history, listen, messages, path, summary, text};

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
    for arguments in [["import", "events"], ["export", "events"], ["export", "bazaar"]] {
        assert_fails(
            dynamodb.history(&arguments).args(["-", "--table", "Missing"]),
            "ResourceNotFoundException: Requested resource not found; check the name of the table (--stack, \
             --table, HISTORY_TABLE or ACCESS_TABLE), the region and AWS_ENDPOINT_URL_DYNAMODB",
        );
    }
}

#[test]
fn an_endpoint_that_does_not_respond_is_an_error() {
    let (_listener, endpoint) = listen();
    assert_fails(
        &mut history(&endpoint, &["import", "events", "-"]),
        "the table History did not answer PutItem in time; check the network",
    );
}

#[test]
fn an_interrupted_export_leaves_nothing_behind() {
    let (listener, endpoint) = listen();
    let file = path("events.ndjson");
    let mut export = history(&endpoint, &["export", "events", text(&file)]);
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
            &mut history(endpoint, &["export", "events", "-"]),
            "the environment variable AWS_ENDPOINT_URL_DYNAMODB must be an http or https address",
        );
    }
}

#[test]
fn empty_endpoints_are_ignored() {
    let dynamodb = DynamoDb::start();
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "eu-central-1")];
    let mut general = history("", &["import", "events", "-"]);
    general.envs(keys).env("AWS_ENDPOINT_URL", &dynamodb.endpoint);
    assert_eq!(messages(&fed(&mut general, MAYOR.as_bytes())), summary(1, 0, 0, 0));
    let mut own = dynamodb.history(&["import", "events", "-"]);
    assert_eq!(messages(&fed(own.env("AWS_ENDPOINT_URL", ""), MAYOR.as_bytes())), summary(0, 1, 0, 0));
    assert_fails(
        history("", &["export", "events", "-"]).env("AWS_ENDPOINT_URL", ""),
        "no AWS region is known: set AWS_REGION",
    );
    // Nothing listens there any more, and the program must not panic.
    let (_, unreachable) = listen();
    let mut command = history("", &["export", "events", "-", "--stack", "live"]);
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
    let (listener, everything_else) = listen();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let length = stream.read(&mut [0; 4096]).unwrap();
        assert!(length > 0);
        let head =
            format!("HTTP/1.1 400 X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", NO_STACK.len());
        stream.write_all((head + NO_STACK).as_bytes()).unwrap();
    });
    let mut command = dynamodb.history(&["export", "events", "-", "--stack", "live"]);
    assert_fails(
        command.env("AWS_ENDPOINT_URL", everything_else),
        "there is no stack live in us-east-1; check --stack, the region (AWS_REGION) and the profile (AWS_PROFILE)",
    );
}

#[test]
fn missing_credentials_are_an_error() {
    assert_fails(
        history("", &["export", "events", "-"]).env("AWS_REGION", "eu-central-1"),
        "no AWS credentials can be used (",
    );
}

#[test]
fn a_missing_file_is_an_error() {
    let dynamodb = DynamoDb::start();
    assert_fails(
        &mut dynamodb.history(&["import", "events", "/nowhere/events.ndjson"]),
        "cannot read /nowhere/events.ndjson: No such file or directory",
    );
    assert_fails(&mut dynamodb.history(&["import", "events", "/"]), "cannot read /: Is a directory");
    assert_fails(
        &mut dynamodb.history(&["export", "events", "/nowhere/events.ndjson"]),
        "cannot write /nowhere/events.ndjson: No such file or directory",
    );
}

#[test]
fn an_invalid_command_line_has_an_exit_code_of_its_own() {
    for (arguments, expected) in [
        (&["import", "pets", "-"][..], "[possible values: bazaar, auctions, events]"),
        (&["import", "events"], "<FILE>"),
        (&["export", "events", "-", "--table", "A", "--stack", "b"], "cannot be used with"),
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
    dynamodb.import("events", "History", MAYOR.as_bytes());
    dynamodb
        .put("History", &serde_json::json!({"pk": {"S": "mayors"}, "sk": {"S": "0002"}, "name": {"N": "1"}}));
    dynamodb.put("History", &serde_json::json!({"pk": {"S": "fire-sales"}, "sk": {"S": "0"}}));
    let output = dynamodb.history(&["export", "events", "-"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), format!("{MAYOR}\n"));
    let messages = messages(&output);
    assert!(
        messages.contains("a corrupt row is skipped") && messages.contains("sort_key=\"0002\""),
        "{messages}"
    );
    let end = "\n2 corrupt or missing values are not in the file; the lines above name them\nexported 1\n";
    assert!(messages.ends_with(end), "{messages}");
}

/// An endpoint that throttles the first requests and accepts the rest.
fn busy(requests: usize) -> String {
    const THROTTLED: &str =
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow"}"#;
    let (listener, endpoint) = listen();
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
    let file = file("events.ndjson", MAYOR);
    let output = history(&busy(7), &["import", "events", text(&file)]).output().unwrap();
    assert_eq!(messages(&output), summary(1, 0, 0, 0));
}
