//! `account set` and `account show`.

use serde_json::json;

use super::support::Access;

#[test]
fn a_new_account_is_shown() {
    let access = Access::start();
    let outcome = access.succeed(&[
        "account",
        "set",
        "zoe+bots@example.com",
        "--tier",
        "pro",
        "--paid-until",
        "2200-01-01",
    ]);
    let expected = [
        vec!["account", "zoe+bots@example.com"],
        vec!["tier", "pro"],
        vec!["status", "active"],
        vec!["paid", "until", "2200-01-01T00:00:00Z"],
        vec!["allowed", "yes"],
    ];
    assert_eq!(outcome.words(), expected);
    assert_eq!(outcome.stderr, "");
    assert_eq!(access.rows().len(), 1);
}

#[test]
fn values_without_an_option_stay_unchanged() {
    const LATER: &str = "2200-01-01T00:00:00Z";
    const SUSPENDED: Option<&str> = Some("the account's subscription is suspended");
    let access = Access::with_bots();
    let set = |options: &[&str]| {
        let arguments = [&["account", "set", "bots", "--json"], options].concat();
        access.succeed(&arguments).json()
    };
    let expected = |tier: &str, status: &str, paid_until: &str, reason: Option<&str>| {
        json!({
            "name": "bots", "tier": tier, "status": status, "paid_until": paid_until,
            "allowed": reason.is_none(), "reason": reason,
        })
    };
    assert_eq!(set(&[]), expected("starter", "active", LATER, None));
    assert_eq!(set(&["--tier", "pro"]), expected("pro", "active", LATER, None));
    assert_eq!(set(&["--status", "suspended"]), expected("pro", "suspended", LATER, SUSPENDED));
    assert_eq!(
        set(&["--paid-until", "2024-02-29T12:00:00+01:00"]),
        expected("pro", "suspended", "2024-02-29T11:00:00Z", SUSPENDED)
    );
    let lapsed = Some("the account's subscription was paid until 2024-02-29T11:00:00Z");
    assert_eq!(set(&["--status", "active"]), expected("pro", "active", "2024-02-29T11:00:00Z", lapsed));
    assert_eq!(access.rows().len(), 1);
}

#[test]
fn a_new_account_requires_a_tier_and_a_date() {
    let access = Access::start();
    for options in [&[][..], &["--tier", "pro"], &["--paid-until", "2200-01-01"], &["--status", "active"]] {
        let reason = access.fail(&[&["account", "set", "bots"], options].concat());
        assert_eq!(reason, "there is no account bots; a new account requires --tier and --paid-until");
    }
    assert!(access.rows().is_empty());
}

#[test]
fn an_account_is_shown_with_its_keys() {
    let access = Access::with_bots();
    let shown = access.succeed(&["account", "show", "bots"]);
    assert!(shown.stdout.ends_with("\n\nno keys\n"), "{shown:?}");
    let (_, id) = access.issue("ci");
    let shown = access.succeed(&["account", "show", "bots"]);
    assert!(shown.stdout.contains(&id), "{shown:?}");
    let shown = access.succeed(&["account", "show", "bots", "--json"]).json();
    assert_eq!(shown["allowed"], true);
    assert_eq!(shown["keys"][0]["id"], id.as_str());
    assert_eq!(shown["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn an_unknown_account_is_an_error_that_names_the_command_to_create_it() {
    let access = Access::start();
    for command in [
        &["account", "show", "bots"][..],
        &["key", "list", "bots"],
        &["key", "issue", "bots", "--label", "ci"],
    ] {
        assert_eq!(
            access.fail(command),
            "there is no account bots; create it: cargo admin account set bots --tier starter --paid-until DATE"
        );
    }
    let reason = access.fail(&["account", "show", "bots", "--table", "Access"]);
    assert!(reason.ends_with("--paid-until DATE --table Access"), "{reason}");
}

#[test]
fn concurrent_changes_of_an_account_are_all_kept() {
    let access = Access::with_bots();
    std::thread::scope(|scope| {
        for options in [["--tier", "pro"], ["--status", "suspended"], ["--paid-until", "2100-01-01"]] {
            let arguments = [&["account", "set", "bots"][..], &options].concat();
            scope.spawn(|| access.succeed(&{ arguments }));
        }
    });
    let account = access.succeed(&["account", "show", "bots", "--json"]).json();
    assert_eq!(account["tier"], "pro");
    assert_eq!(account["status"], "suspended");
    assert_eq!(account["paid_until"], "2100-01-01T00:00:00Z");
}
