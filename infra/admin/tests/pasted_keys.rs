//! Operators paste keys where they do not belong. No command prints a key that is in place of a file, a table, a stack or a URL.

use std::fs;
use std::path::Path;

use crate::access::support::{Access, UNKNOWN_KEY, run};
use crate::dynamodb::{command, path};

/// The commands that read or write a file, without the file.
const IMPORTS: [&[&str]; 4] = [
    &["history", "import", "bazaar"],
    &["history", "import", "auctions"],
    &["history", "import", "events"],
    &["account", "import"],
];
const EXPORTS: [&[&str]; 4] = [
    &["history", "export", "bazaar"],
    &["history", "export", "auctions"],
    &["history", "export", "events"],
    &["account", "export"],
];

/// Runs the command with the file, which must fail for this reason. [`run`] checks that no key is printed.
#[track_caller]
fn expect_failure(access: &Access, arguments: &[&str], file: &Path, reason: &str) {
    let arguments = [arguments, &[file.to_str().unwrap()]].concat();
    let outcome = run(&mut access.command(&arguments), "");
    let is_named = outcome.stderr.contains(reason) && outcome.stderr.contains("gd_…");
    assert!(outcome.code != 0 && is_named, "{arguments:?}: {outcome:?}");
}

#[test]
fn no_command_prints_a_key_in_place_of_a_file() {
    let access = Access::with_bots();
    let folder = path("folder");
    fs::create_dir(&folder).unwrap();
    let missing = folder.join(UNKNOWN_KEY);
    let below = missing.join("file");
    for import in IMPORTS {
        for file in [Path::new(UNKNOWN_KEY), &missing, &below, &folder.join(format!("{UNKNOWN_KEY}.ndjson"))]
        {
            expect_failure(&access, import, file, "cannot read ");
        }
    }
    for export in EXPORTS {
        expect_failure(&access, export, &below, "cannot write ");
    }
    // A file with such a name, and a bad line.
    fs::write(&missing, format!("{UNKNOWN_KEY}\n")).unwrap();
    for import in IMPORTS {
        expect_failure(&access, import, &missing, "gd_…:1: ");
    }
    for export in EXPORTS {
        expect_failure(&access, export, &missing, "already exists");
    }
    fs::remove_file(&missing).unwrap();
    fs::create_dir(&missing).unwrap();
    for import in IMPORTS {
        expect_failure(&access, import, &missing, "cannot read ");
    }
    for export in EXPORTS {
        expect_failure(&access, &[export, &["--force"]].concat(), &missing, "not a regular file");
    }
}

#[test]
fn no_command_prints_a_key_in_place_of_a_name() {
    for (arguments, option) in [
        (&["history", "import", "events", "-"][..], "--table"),
        (&["history", "export", "events", "-"], "--stack"),
        (&["history", "export", "events", "-"], "--table"),
        (&["account", "export", "-"], "--table"),
        (&["account", "import", "-"], "--stack"),
        (&["key", "list", "bots"], "--stack"),
    ] {
        let outcome = run(&mut command("", &[arguments, &[option, UNKNOWN_KEY]].concat()), "");
        assert!(outcome.code == 2 && outcome.stderr.contains("this is an API key"), "{outcome:?}");
    }
    for arguments in [
        &["history", "import", UNKNOWN_KEY, "-"][..],
        &["history", UNKNOWN_KEY],
        &["account", "show", UNKNOWN_KEY],
        &["check", "--url", UNKNOWN_KEY],
        &["check", UNKNOWN_KEY],
        &[UNKNOWN_KEY],
    ] {
        let outcome = run(&mut command("", arguments), "");
        assert!(outcome.code == 2, "{arguments:?}: {outcome:?}");
    }
    // Variables of the environment are also printed without keys.
    for (variable, arguments) in [
        ("HISTORY_TABLE", &["history", "export", "events", "-"][..]),
        ("ACCESS_TABLE", &["account", "show", "bots"]),
        ("AWS_ENDPOINT_URL_DYNAMODB", &["account", "show", "bots"]),
        ("AWS_PROFILE", &["account", "show", "bots"]),
        ("AWS_REGION", &["account", "show", "bots"]),
    ] {
        let outcome = run(command("", arguments).env(variable, UNKNOWN_KEY), "");
        assert!(outcome.code == 1, "{variable}: {outcome:?}");
    }
    let outcome = run(command("", &["check", "--url", "http://127.0.0.1:9"]).env("API_KEY", "gd_pasted"), "");
    assert!(outcome.code == 2, "{outcome:?}");
}
