//! The file of an export is complete or not there, and has the mode that its readers expect. A command that cannot work says what to
//! do.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{DynamoDb, EVENTS, MAYOR, fed, file, history, listen, messages, path, summary, text};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_is_replaced_only_by_force_and_never_half_written() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let existing = file("events.ndjson", "precious");
    let output = dynamodb.history(&["export", "events", text(&existing)]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let name = text(&existing);
    assert_eq!(
        messages(&output),
        format!("error: {name} already exists; choose another name, or replace it with --force\n")
    );
    let forced = ["export", "events", name, "--force"];
    // If the table fails, the file stays as it was, without another beside it.
    let output = dynamodb.history(&forced).args(["--table", "Missing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&existing).unwrap(), "precious");
    assert_eq!(fs::read_dir(existing.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(dynamodb.succeed(&forced), "exported 4\n");
    assert_eq!(fs::read_to_string(&existing).unwrap(), EVENTS);
    assert_eq!(fs::read_dir(existing.parent().unwrap()).unwrap().count(), 1);
    // The target of a link is replaced; a device is not.
    let link = existing.with_file_name("link");
    symlink(&existing, &link).unwrap();
    dynamodb.succeed(&["export", "bazaar", text(&link), "--force"]);
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&existing).unwrap(), "");
    let output = dynamodb.history(&["export", "events", "/dev/null", "--force"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(messages(&output).starts_with("error: /dev/null is not a regular file"), "{}", messages(&output));
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_new_one_gets_that_of_the_umask() {
    let dynamodb = DynamoDb::start();
    for (umask, before, after) in
        [("022", None, 0o644), ("077", None, 0o600), ("077", Some(0o664), 0o664), ("000", Some(0o400), 0o400)]
    {
        let path = path("events.ndjson");
        if let Some(mode) = before {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        let history = dynamodb.history(&["export", "events", text(&path), "--force"]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask {umask} && exec \"$0\" \"$@\"")]).arg(history.get_program());
        shell.args(history.get_args()).env_clear();
        shell.envs(history.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(shell.output().unwrap().status.success());
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (after, ""));
    }
}

#[test]
fn an_interrupted_export_leaves_nothing_behind_and_is_private_meanwhile() {
    let (listener, endpoint) = listen();
    let existing = file("events.ndjson", "old");
    fs::set_permissions(&existing, Permissions::from_mode(0o600)).unwrap();
    let mut export = history(&endpoint, &["export", "events", text(&existing), "--force"]);
    let child = export.stderr(Stdio::piped()).spawn().unwrap();
    // The command has sent a request, and listens for signals.
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

#[test]
fn a_part_of_an_export_in_a_closed_pipe_is_an_error() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let mut export = dynamodb.history(&["export", "events", "-"]);
    let mut child = export.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(messages(&output).starts_with("error: ") && messages(&output).contains("standard output"));
}

/// The command must fail; the last line must contain `reason`.
#[track_caller]
fn assert_fails(command: &mut Command, reason: &str) {
    let output = fed(command, MAYOR.as_bytes());
    let messages = messages(&output);
    let last = messages.lines().last().unwrap();
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(last.starts_with("error: ") && last.contains(reason), "{messages}");
}

#[test]
fn what_is_missing_is_an_error() {
    let dynamodb = DynamoDb::start();
    let missing = "ResourceNotFoundException: Requested resource not found; check the name of the table";
    let (_listener, silent) = listen();
    for (endpoint, arguments, reason) in [
        (&dynamodb.endpoint, &["import", "events", "-", "--table", "Missing"][..], missing),
        (&dynamodb.endpoint, &["export", "bazaar", "-", "--table", "Missing"], missing),
        (
            &dynamodb.endpoint,
            &["import", "events", "/nowhere/events.ndjson"],
            "cannot read /nowhere/events.ndjson: ",
        ),
        (&dynamodb.endpoint, &["import", "events", "/"], "cannot read /: Is a directory"),
        (
            &dynamodb.endpoint,
            &["export", "events", "/nowhere/events.ndjson"],
            "cannot write /nowhere/events.ndjson: ",
        ),
        (
            &silent,
            &["import", "events", "-"],
            "the table History did not answer PutItem in time; check the network",
        ),
        (&"ftp://127.0.0.1".to_owned(), &["export", "events", "-"], "must be an http or https address"),
        (&String::new(), &["export", "events", "-"], "no AWS region is known: set AWS_REGION"),
    ] {
        assert_fails(&mut history(endpoint, arguments), reason);
    }
    assert_fails(
        history("", &["export", "events", "-"]).env("AWS_REGION", "eu-central-1"),
        "no AWS credentials can be used (",
    );
    let output = history("", &["import", "pets", "-"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", messages(&output));
}

#[test]
fn the_endpoint_of_dynamodb_is_only_for_dynamodb() {
    let dynamodb = DynamoDb::start();
    let mut own = dynamodb.history(&["import", "events", "-"]);
    assert_eq!(messages(&fed(own.env("AWS_ENDPOINT_URL", ""), MAYOR.as_bytes())), summary(1, 0, 0, 0));
    // Nothing listens there any more.
    let (_, unreachable) = listen();
    let mut command = dynamodb.history(&["export", "events", "-", "--stack", "live"]);
    assert_fails(command.env("AWS_ENDPOINT_URL", unreachable), "CloudFormation failed at DescribeStacks: ");
}

#[test]
fn a_corrupt_row_is_named_and_the_others_are_exported() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", MAYOR.as_bytes());
    let mayor = serde_json::json!({"pk": {"S": "mayors"}, "sk": {"S": "0002"}, "name": {"N": "1"}});
    dynamodb.put("History", &mayor);
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
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            // The body is the last object of the request.
            while !request.ends_with(b"}") {
                let length = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..length]);
            }
            let (status, body) = if number < requests { (400, THROTTLED) } else { (200, "{}") };
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
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
