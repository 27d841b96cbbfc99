//! Operators paste keys where they do not belong. No command prints a key that is in place of a file, a name,
//! a stack or a URL.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::dynamodb::path;
use crate::program::{UNKNOWN_KEY, command, run};

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
fn expect_failure(arguments: &[&str], file: &Path, reason: &str) {
    let arguments = [arguments, &[file.to_str().unwrap()]].concat();
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_REGION", "eu-central-1")];
    let outcome = run(command(&arguments).envs(keys), "");
    let is_named = outcome.stderr.contains(reason) && outcome.stderr.contains("gd_…");
    assert!(outcome.code != 0 && is_named, "{arguments:?}: {outcome:?}");
}

#[test]
fn no_command_prints_a_key_in_place_of_a_file() {
    let folder = path("folder");
    fs::create_dir(&folder).unwrap();
    let missing = folder.join(UNKNOWN_KEY);
    let below = missing.join("file");
    for import in IMPORTS {
        for file in [Path::new(UNKNOWN_KEY), &missing, &below, &folder.join(format!("{UNKNOWN_KEY}.ndjson"))]
        {
            expect_failure(import, file, "cannot read ");
        }
    }
    for export in EXPORTS {
        expect_failure(export, &below, "cannot write ");
    }
    // A file with such a name, and a bad line.
    fs::write(&missing, format!("{UNKNOWN_KEY}\n")).unwrap();
    for import in IMPORTS {
        expect_failure(import, &missing, "gd_…:1: ");
    }
    for export in EXPORTS {
        expect_failure(export, &missing, "already exists");
    }
    fs::remove_file(&missing).unwrap();
    fs::create_dir(&missing).unwrap();
    for import in IMPORTS {
        expect_failure(import, &missing, "cannot read ");
    }
    for export in EXPORTS {
        expect_failure(&[export, &["--force"]].concat(), &missing, "not a regular file");
    }
}

/// Returns the subcommands that the help of this command lists.
fn subcommands(words: &[String]) -> Vec<String> {
    let words: Vec<_> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(&mut command(&words), "").stdout;
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns the words of every command that has no subcommands.
fn all_commands() -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut groups = vec![Vec::new()];
    while let Some(group) = groups.pop() {
        let names = subcommands(&group);
        if names.is_empty() {
            commands.push(group);
        } else {
            groups.extend(names.into_iter().map(|name| [&group[..], &[name]].concat()));
        }
    }
    commands
}

/// Returns the options of the command that have a value, and the number of its other arguments.
fn arguments_of(words: &[&str]) -> (BTreeSet<String>, usize) {
    let help = run(&mut command(&[words, &["--help"]].concat()), "").stdout;
    let options = help.lines().filter_map(|line| line.trim_start().strip_prefix("--")?.split_once(" <"));
    let usage = help.lines().find(|line| line.starts_with("Usage: ")).unwrap();
    let required = usage.split(' ').filter(|word| word.starts_with('<'));
    (options.map(|(name, _)| format!("--{name}")).collect(), required.count())
}

/// The help lists all commands and options, so this test also covers later ones.
#[test]
fn no_command_prints_a_key_in_place_of_any_argument_or_option() {
    let commands = all_commands();
    for expected in ["account set", "account usage", "account prune", "key issue", "history export", "check"]
    {
        assert!(commands.iter().any(|words| words.join(" ") == expected), "{expected}: {commands:?}");
    }
    for words in &commands {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let (options, count) = arguments_of(&words);
        // Also one argument more than the command has.
        for keys in 1..=count + 1 {
            let pasted = [&words[..], &vec![UNKNOWN_KEY; keys]].concat();
            let outcome = run(&mut command(&pasted), "");
            assert_ne!(outcome.code, 0, "{pasted:?}: {outcome:?}");
        }
        for option in options.iter().map(String::as_str).chain(["--unknown"]) {
            let pasted = [&words[..], &[option, UNKNOWN_KEY]].concat();
            let outcome = run(&mut command(&pasted), "");
            assert_ne!(outcome.code, 0, "{pasted:?}: {outcome:?}");
        }
    }
}

#[test]
fn no_command_prints_a_key_in_place_of_a_name() {
    for (arguments, option) in [
        (&["history", "import", "events", "-"][..], "--table"),
        (&["history", "export", "events", "-"], "--stack"),
        (&["history", "export", "events", "-"], "--table"),
        (&["account", "import", "-"], "--stack"),
        (&["account", "prune"], "--stack"),
        (&["key", "list", "bots"], "--stack"),
    ] {
        let outcome = run(&mut command(&[arguments, &[option, UNKNOWN_KEY]].concat()), "");
        assert!(outcome.code == 2 && outcome.stderr.contains("this is an API key"), "{outcome:?}");
    }
    for arguments in [
        &["history", "import", UNKNOWN_KEY, "-"][..],
        &["history", UNKNOWN_KEY],
        &["account", "show", UNKNOWN_KEY],
        &["account", "usage", UNKNOWN_KEY],
        &["account", "delete", UNKNOWN_KEY],
        &["check", "--url", UNKNOWN_KEY],
        &["check", UNKNOWN_KEY],
        &[UNKNOWN_KEY],
    ] {
        let outcome = run(&mut command(arguments), "");
        assert!(outcome.code == 2, "{arguments:?}: {outcome:?}");
    }
    // Variables of the environment are also printed without keys.
    for (variable, arguments) in [
        ("HISTORY_TABLE", &["history", "export", "events", "-"][..]),
        ("AWS_ENDPOINT_URL_DYNAMODB", &["history", "export", "events", "-"]),
        ("AWS_ENDPOINT_URL_LAMBDA", &["account", "show", "bots"]),
        ("AWS_PROFILE", &["account", "show", "bots", "--stack", "game"]),
        ("AWS_REGION", &["account", "show", "bots", "--stack", "game"]),
    ] {
        let outcome = run(command(arguments).env(variable, UNKNOWN_KEY), "");
        assert!(outcome.code == 1, "{variable}: {outcome:?}");
    }
    let outcome = run(command(&["check", "--url", "http://127.0.0.1:9"]).env("API_KEY", "gd_pasted"), "");
    assert!(outcome.code == 2, "{outcome:?}");
}
