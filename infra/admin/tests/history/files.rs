//! The file of an export is complete or absent, and has the mode that its readers expect. A command that
//! fails names the solution.

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::{DynamoDb, EVENTS, MAYOR, history, messages, summary};
use crate::dynamodb::{fed, mode, path};
use crate::server::{listen, response, serve};

#[test]
fn a_file_is_replaced_only_by_force_and_keeps_its_mode() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let file = path("events.ndjson");
    let export = |arguments: &[&str]| {
        let export = [&["export", "events", file.to_str().unwrap()], arguments].concat();
        let output = history(&dynamodb.endpoint, &export).output().unwrap();
        // No temporary file is left.
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        (messages(&output), output.status.code(), fs::read_to_string(&file).unwrap())
    };
    assert_eq!(export(&[]), ("exported 4\n".to_owned(), Some(0), EVENTS.to_owned()));
    // The umask decides the mode of a new file.
    let usual = path("usual");
    fs::write(&usual, "").unwrap();
    assert_eq!(mode(&file), mode(&usual));
    fs::write(&file, "precious").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let (messages, code, content) = export(&[]);
    let expected = "already exists; choose another name, or replace it with --force\n";
    assert!(messages.ends_with(expected) && code == Some(1) && content == "precious", "{messages}");
    assert_eq!(export(&["--force", "--table", "Missing"]).2, "precious");
    assert_eq!(export(&["--force"]).2, EVENTS);
    assert_eq!(mode(&file), 0o640);
}

#[test]
fn an_interrupted_export_leaves_nothing_behind_and_is_private_meanwhile() {
    let (listener, endpoint) = listen();
    let existing = path("events.ndjson");
    fs::write(&existing, "old").unwrap();
    fs::set_permissions(&existing, Permissions::from_mode(0o600)).unwrap();
    let mut export = history(&endpoint, &["export", "events", existing.to_str().unwrap(), "--force"]);
    let child = export.stderr(Stdio::piped()).spawn().unwrap();
    // Once the command has connected, it listens for signals.
    let (_connection, _) = listener.accept().unwrap();
    let files = || fs::read_dir(existing.parent().unwrap()).unwrap().map(Result::unwrap);
    assert!(files().all(|file| mode(&file.path()) == 0o600) && files().count() == 2);
    let signal = ["-TERM", &child.id().to_string()];
    assert!(Command::new("kill").args(signal).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(messages(&output), "error: interrupted; run the same command again to do the rest\n");
    assert_eq!((files().count(), fs::read_to_string(&existing).unwrap().as_str()), (1, "old"));
}

/// The command must fail; the last line must contain `reason`.
#[track_caller]
fn assert_fails(command: &mut Command, reason: &str) {
    let output = fed(command, MAYOR.as_bytes());
    let printed = messages(&output);
    let last = printed.lines().last().unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(last.starts_with("error: ") && last.contains(reason), "{printed}");
}

#[test]
fn what_is_missing_is_an_error() {
    let dynamodb = DynamoDb::start();
    let missing = "ResourceNotFoundException: Requested resource not found; check the name of the table";
    for (arguments, (variable, value), reason) in [
        (&["import", "events", "-", "--table", "Missing"][..], ("HISTORY_TABLE", "History"), missing),
        (&["export", "bazaar", "-"], ("HISTORY_TABLE", "Missing"), missing),
        (&["import", "events", "/nowhere/file"], ("HISTORY_TABLE", ""), "cannot read /nowhere/file: "),
        (&["import", "events", "/"], ("HISTORY_TABLE", ""), "cannot read /: Is a directory"),
        (&["export", "events", "/nowhere/file"], ("HISTORY_TABLE", ""), "cannot write /nowhere/file: "),
        (&["export", "events", "/dev/null", "--force"], ("HISTORY_TABLE", ""), "is not a regular file"),
        (&["export", "events", "-"], ("AWS_ENDPOINT_URL_DYNAMODB", "ftp://x"), "an http or https address"),
        (
            &["export", "events", "-"],
            ("AWS_ENDPOINT_URL_DYNAMODB", ""),
            "no AWS region is known: set AWS_REGION",
        ),
        (
            &["export", "events", "-", "--stack", "live"],
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
            "CloudFormation failed at DescribeStacks: ",
        ),
    ] {
        assert_fails(history(&dynamodb.endpoint, arguments).env(variable, value), reason);
    }
    let mut without_credentials = history("", &["export", "events", "-"]);
    assert_fails(without_credentials.env("AWS_REGION", "eu-central-1"), "no AWS credentials can be used (");
}

#[test]
fn a_part_of_an_export_in_a_closed_pipe_is_an_error() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let mut export = history(&dynamodb.endpoint, &["export", "events", "-"]);
    let mut child = export.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(messages(&output).starts_with("error: ") && messages(&output).contains("standard output"));
}

#[test]
fn a_throttled_import_is_retried() {
    let throttled = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow"}"#;
    let count = Cell::new(0);
    // The AWS SDK gives up after five attempts, and the command then retries.
    let (endpoint, _requests) = serve(move |_| match count.replace(count.get() + 1) {
        0..7 => response("400 X", "", throttled),
        _ => response("200 X", "", "{}"),
    });
    let output = fed(&mut history(&endpoint, &["import", "events", "-"]), MAYOR.as_bytes());
    assert_eq!(messages(&output), summary(1, 0, 0, 0));
}
