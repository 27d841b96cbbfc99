//! Invalid command lines and unreachable tables. No message repeats a key.

use serde_json::json;

use super::support::{Access, UNKNOWN_ID, UNKNOWN_KEY, command, run};

#[test]
fn an_invalid_command_line_changes_nothing() {
    let access = Access::with_bots();
    let long = "x".repeat(65);
    for (arguments, expected) in [
        (&["account", "set", "a b", "--tier", "pro"][..], "the name of an account has 1 to 64 letters"),
        (&["account", "set", "a#b"], "the name of an account has 1 to 64 letters"),
        (&["account", "set", &long], "the name of an account has 1 to 64 letters"),
        (&["account", "set", ""], "the name of an account has 1 to 64 letters"),
        (&["account", "set", UNKNOWN_KEY], "this is an API key"),
        (&["account", "set", "bots", "--tier", "gold"], "[possible values: starter, pro]"),
        (&["account", "set", "bots", "--status", "lapsed"], "[possible values: active, suspended]"),
        (&["account", "set", "bots", "--paid-until", "tomorrow"], "must be a date like 2027-01-01"),
        (&["account"], "Usage: cargo admin account"),
        (&["key", "issue", "bots"], "--label <LABEL>"),
        (&["key", "issue", "bots", "--label", "a\u{1b}[31m"], "begins with a letter or digit"),
        (&["key", "issue", "bots", "--label", ""], "a label has 1 to 64 letters"),
        (&["key", "issue", "bots", "--label", " ci"], "begins with a letter or digit"),
        (&["key", "issue", "bots", "--label", &long], "a label has 1 to 64 letters"),
        (&["key", "issue", "bots", "--label", &format!("my key {UNKNOWN_KEY}0!")], "this is an API key"),
        (&["key", "list", "bots", "--table", UNKNOWN_KEY], "this is an API key"),
        (&["key", "revoke", "95F291419F81E24891FED21A"], "a KEY-ID is 24 hexadecimal digits in lower case"),
        (&["key", "revoke", UNKNOWN_KEY], "this is an API key, not a KEY-ID"),
        (&["key", "revoke", &UNKNOWN_KEY[..30]], "this is an API key, not a KEY-ID"),
        (&["key", "revoke", &UNKNOWN_ID[1..]], "a KEY-ID is 24 hexadecimal digits in lower case"),
        (&["key", "explain"], "<KEY>"),
        (&["key", "explain", UNKNOWN_KEY, UNKNOWN_KEY], "unexpected argument 'gd_…'"),
        (&["key", UNKNOWN_KEY], "unrecognized subcommand 'gd_…'"),
        (&["key", "list", "bots", "--table", "A", "--stack", "b"], "cannot be used with"),
    ] {
        let outcome = access.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {outcome:?}");
    }
    assert_eq!(access.rows().len(), 1);
}

#[test]
fn help_exits_with_0() {
    let outcome = run(&mut command("", &["key", "issue", "--help"]), "");
    assert!(outcome.code == 0 && outcome.stdout.contains("--label <LABEL>"), "{outcome:?}");
}

#[test]
fn an_unreachable_table_is_an_error() {
    for arguments in [
        &["account", "show", "bots"][..],
        &["account", "set", "bots", "--tier", "pro"],
        &["key", "issue", "bots", "--label", "ci"],
        &["key", "list", "bots"],
        &["key", "revoke", UNKNOWN_ID],
        &["key", "explain", UNKNOWN_KEY],
    ] {
        let outcome = run(&mut command("http://127.0.0.1:9", arguments), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        assert!(outcome.stderr.contains("check the network, AWS_ENDPOINT_URL_DYNAMODB"), "{outcome:?}");
        let outcome = run(&mut command("", arguments), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        assert_eq!(
            outcome.stderr,
            "error: no AWS region is known: set AWS_REGION, or choose a profile that has one with AWS_PROFILE\n"
        );
    }
}

#[test]
fn a_corrupt_row_is_an_error() {
    let access = Access::with_bots();
    access.put_key("ci", &json!({"created_at": {"S": "yesterday"}}));
    for arguments in [
        &["key", "list", "bots"][..],
        &["key", "explain", UNKNOWN_KEY],
        &["key", "issue", "bots", "--label", "ci"],
    ] {
        let reason = access.fail(arguments);
        assert_eq!(
            reason,
            format!(
                "the row key#{UNKNOWN_ID} of the table Access is corrupt: its attribute created_at is missing or not a \
                 whole number; this service does not write such rows: correct it or delete it"
            )
        );
    }
}

#[test]
fn commands_warn_without_a_stack_unless_the_table_is_local() {
    let access = Access::with_bots();
    let (_, id) = access.issue("ci");
    // An address of this machine that does not count as local.
    let elsewhere = access.endpoint.replace("127.0.0.1", "0.0.0.0");
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "eu-central-1")];
    for (arguments, expected) in [
        (&["account", "set", "bots", "--tier", "pro"][..], "the account's keys stay in the usage plan"),
        (&["key", "revoke", &id], "API Gateway keeps its copy of the key"),
        (&["key", "list", "bots"], ""),
        (&["account", "set", "bots", "--status", "suspended"], ""),
    ] {
        let outcome = run(command(&elsewhere, arguments).envs(keys), "");
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(
            outcome.stderr.contains("warning: without --stack, "),
            !expected.is_empty(),
            "{outcome:?}"
        );
        assert!(outcome.stderr.contains(expected), "{outcome:?}");
    }
    let output = command(&elsewhere, &["key", "issue", "bots", "--label", "ci"]).envs(keys).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(
        messages.contains("warning: without --stack, API Gateway rejects the key with 401"),
        "{messages}"
    );
}
