//! Invalid command lines, and commands without a function. `tests/service/access/admin` runs commands on a
//! local cloud.

use crate::dynamodb;
use crate::program::{UNKNOWN_ID, UNKNOWN_KEY, command, run};

#[test]
fn an_invalid_command_line_is_refused_before_any_request() {
    let long = "x".repeat(65);
    for (arguments, expected) in [
        (&["account", "set", "a b", "--tier", "pro"][..], "the name of an account has 1 to 64 letters"),
        (&["account", "set", "a#b"], "the name of an account has 1 to 64 letters"),
        (&["account", "set", &long], "the name of an account has 1 to 64 letters"),
        (&["account", "set", ""], "the name of an account has 1 to 64 letters"),
        (&["account", "set", UNKNOWN_KEY], "this is an API key"),
        (&["account", "set", "bots", "--tier", "gold"], "[possible values: free, starter, pro]"),
        (&["account", "set", "bots", "--status", "lapsed"], "[possible values: active, suspended]"),
        (&["account", "set", "bots", "--paid-until", "tomorrow"], "must be a date like 2027-01-01"),
        (&["account"], "Usage: cargo admin account"),
        (&["account", "usage"], "<NAME>"),
        (&["account", "delete", "a b"], "the name of an account has 1 to 64 letters"),
        (&["account", "prune", "bots"], "unexpected argument 'bots'"),
        (&["account", "show", "bots", "--table", "Access"], "unexpected argument '--table'"),
        (&["key", "issue", "bots"], "--label <LABEL>"),
        (&["key", "issue", "bots", "--label", "a\u{1b}[31m"], "begins with a letter or digit"),
        (&["key", "issue", "bots", "--label", ""], "a label has 1 to 64 letters"),
        (&["key", "issue", "bots", "--label", " ci"], "begins with a letter or digit"),
        (&["key", "issue", "bots", "--label", &long], "a label has 1 to 64 letters"),
        (&["key", "issue", "bots", "--label", &format!("my key {UNKNOWN_KEY}0!")], "this is an API key"),
        (&["key", "list", "bots", "--stack", ""], "must not be empty"),
        (&["key", "revoke", "95F291419F81E24891FED21A"], "a KEY-ID is 24 hexadecimal digits in lower case"),
        (&["key", "revoke", UNKNOWN_KEY], "this is an API key, not a KEY-ID"),
        (&["key", "revoke", &UNKNOWN_KEY[..30]], "this is an API key, not a KEY-ID"),
        (&["key", "revoke", &UNKNOWN_ID[1..]], "a KEY-ID is 24 hexadecimal digits in lower case"),
        (&["key", "explain"], "<KEY>"),
        (&["key", "explain", UNKNOWN_KEY, UNKNOWN_KEY], "unexpected argument 'gd_…'"),
        (&["key", UNKNOWN_KEY], "unrecognized subcommand 'gd_…'"),
    ] {
        let outcome = run(&mut command(arguments), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(expected), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn help_exits_with_0() {
    let outcome = run(&mut command(&["key", "issue", "--help"]), "");
    assert!(outcome.code == 0 && outcome.stdout.contains("--label <LABEL>"), "{outcome:?}");
}

#[test]
fn a_key_with_a_typo_is_explained_without_a_request() {
    const NO_KEY: &str =
        "the key is malformed: it is not an API key: a key is gd_ followed by 38 letters and digits";
    for (key, reason) in [
        (UNKNOWN_KEY.replace('J', "K"), "the key is malformed: its checksum is wrong, so it has a typo"),
        (UNKNOWN_KEY[..40].to_owned(), NO_KEY),
        ("hello".to_owned(), NO_KEY),
    ] {
        let outcome = run(&mut command(&["key", "explain", "-", "--json"]), &key);
        assert_eq!(outcome.code, 1);
        assert_eq!(outcome.json()["reason"], reason);
        assert_eq!(outcome.json()["status"], 401);
    }
}

#[test]
fn no_key_on_standard_input() {
    for input in ["", "\n", "  \n"] {
        let outcome = run(&mut command(&["key", "explain", "-"]), input);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
        assert_eq!(outcome.stderr, "error: standard input has no key\n");
    }
    let endless = "x".repeat(1024 * 1024);
    assert_eq!(run(&mut command(&["key", "explain", "-"]), &endless).code, 1);
}

#[test]
fn commands_need_a_function_that_can_be_reached() {
    for arguments in [
        &["account", "set", "bots", "--tier", "pro"][..],
        &["account", "show", "bots"],
        &["account", "usage", "bots"],
        &["account", "delete", "bots"],
        &["account", "prune"],
        &["account", "export", "-"],
        &["key", "list", "bots"],
        &["key", "revoke", UNKNOWN_ID],
        &["key", "explain", UNKNOWN_KEY],
    ] {
        // `DynamoDB` alone is no target: only the function changes accounts.
        let outcome = run(&mut dynamodb::command("http://127.0.0.1:9", arguments), "");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}");
        let expected = "error: choose the accounts of a stack with --stack, or those of the local cloud with \
                        AWS_ENDPOINT_URL_LAMBDA\n";
        assert_eq!(outcome.stderr, expected, "{arguments:?}");
    }
    let outcome = run(&mut command(&["account", "show", "bots"]), "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    assert!(outcome.stderr.contains("Lambda") && outcome.stderr.contains("check the network"), "{outcome:?}");
}

#[test]
fn a_stack_needs_a_region() {
    // A local address of `DynamoDB` would replace the region.
    let mut show = command(&["account", "show", "bots", "--stack", "game"]);
    let outcome = run(show.env_remove("AWS_ENDPOINT_URL_DYNAMODB"), "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    let expected =
        "error: no AWS region is known: set AWS_REGION, or choose a profile that has one with AWS_PROFILE\n";
    assert_eq!(outcome.stderr, expected);
}
