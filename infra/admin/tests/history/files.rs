//! The file of an export is complete or not there, and has the mode that its readers expect.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{DynamoDb, EVENTS, file, listen, messages, path, text};

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
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for (umask, new) in [("022", 0o644), ("077", 0o600), ("000", 0o666)] {
        let export = |path: &Path| {
            let history = dynamodb.history(&["export", "events", text(path), "--force"]);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("umask {umask} && exec \"$0\" \"$@\"")]).arg(history.get_program());
            shell.args(history.get_args()).env_clear();
            shell.envs(history.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let output = shell.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
            assert_eq!(fs::read_to_string(path).unwrap(), EVENTS);
        };
        let created = path("events.ndjson");
        export(&created);
        assert_eq!(mode(&created), new, "umask {umask}");
        for existing in [0o600, 0o640, 0o644, 0o664, 0o400, 0o666] {
            let replaced = file("events.ndjson", "old");
            fs::set_permissions(&replaced, Permissions::from_mode(existing)).unwrap();
            export(&replaced);
            assert_eq!(mode(&replaced), existing, "umask {umask}");
            // Through a link, too.
            let link = replaced.with_file_name("link");
            symlink(&replaced, &link).unwrap();
            export(&link);
            assert_eq!(mode(&replaced), existing, "umask {umask}");
        }
    }
}

#[test]
fn while_an_export_runs_only_the_readers_of_the_old_file_can_read_the_new_one() {
    let dynamodb = DynamoDb::start();
    let existing = file("events.ndjson", "old");
    fs::set_permissions(&existing, Permissions::from_mode(0o600)).unwrap();
    // The endpoint accepts the connection and never answers.
    let (silent, endpoint) = listen();
    let mut export = dynamodb.history(&["export", "events", text(&existing), "--force"]);
    export.env("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
    let mut child = export.stderr(Stdio::piped()).spawn().unwrap();
    let (_connection, _) = silent.accept().unwrap();
    let entries = fs::read_dir(existing.parent().unwrap()).unwrap();
    let modes: Vec<_> =
        entries.map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o7777).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(modes, [0o600, 0o600]);
}

#[test]
fn a_closed_pipe_ends_an_export_quietly() {
    let dynamodb = DynamoDb::start();
    dynamodb.import("events", "History", EVENTS.as_bytes());
    let mut export = dynamodb.history(&["export", "events", "-"]);
    let mut child = export.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), messages(&output).as_str()), (Some(0), ""));
}
