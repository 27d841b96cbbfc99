//! Deployed functions link one HTTP stack, one TLS stack, and no package that a route does not need. Every
//! megabyte slows a cold start.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::Command;

use common::routes::{DOCS, INDEX, Reads, Route, VERSION_1};

use crate::support::{ACCOUNTS, AUTHORIZER, RECORDERS, in_repository};

const fn has_table(route: &Route) -> bool {
    matches!(route.reads, Reads::History | Reads::Account)
}

fn with_table() -> Vec<&'static str> {
    let routes = VERSION_1.into_iter().filter(|route| has_table(route));
    let others = [ACCOUNTS, AUTHORIZER, "payments"];
    routes.map(|route| route.function).chain(RECORDERS).chain(others).collect()
}

fn without_table() -> Vec<&'static str> {
    let routes = VERSION_1.into_iter().chain([&INDEX, &DOCS]);
    routes.filter(|route| !has_table(route)).map(|route| route.function).collect()
}

/// Returns a line for every package that the deployed `functions` link, in this format of `cargo tree`.
fn linked(functions: &[&str], format: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(in_repository(""));
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", format]);
    for function in functions {
        command.args(["--package", function]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the versions of every package that the deployed `functions` link, by name.
fn linked_packages(functions: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut packages = BTreeMap::<_, BTreeSet<_>>::new();
    for line in linked(functions, "{p}").lines() {
        // Lines are empty or like `hyper v1.12.0`, possibly followed by a path or `(*)`.
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            packages.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    packages
}

#[test]
fn the_functions_link_one_http_stack_and_one_tls_stack() {
    for functions in [without_table(), with_table()] {
        let packages = linked_packages(&functions);
        for function in functions {
            assert!(packages.contains_key(function), "{function} is not in the tree");
        }
        for name in ["hyper", "http", "http-body", "rustls", "ring", "tokio", "serde_json", "reqwest"] {
            let versions = packages.get(name).unwrap_or_else(|| panic!("{name} is not linked"));
            assert_eq!(versions.len(), 1, "{name}: {versions:?}");
        }
        for name in ["aws-lc-rs", "aws-lc-sys", "native-tls", "openssl", "openssl-sys", "boring", "h2"] {
            assert_eq!(packages.get(name), None, "{name} is linked");
        }
    }
}

#[test]
fn functions_without_a_table_link_no_aws_sdk_and_no_function_links_a_development_tool() {
    let packages = linked_packages(&without_table());
    for name in ["aws-sdk-dynamodb", "aws-config", "tables"] {
        assert_eq!(packages.get(name), None, "{name} is linked");
    }
    for packages in [packages, linked_packages(&with_table())] {
        for name in [
            "local",
            "simulator",
            "axum",
            "clap",
            "proptest",
            "dynoxide-rs",
            "openapi",
            "workspace-hack",
            "scalar_api_reference",
        ] {
            assert_eq!(packages.get(name), None, "{name} is linked");
        }
    }
}

#[test]
fn the_functions_contain_no_code_for_lines_that_are_never_logged() {
    for functions in [without_table(), with_table()] {
        let lines = linked(&functions, "{p}|{f}");
        let tracing = lines.lines().find(|line| line.starts_with("tracing v")).unwrap();
        let (_, features) = tracing.split_once('|').unwrap();
        assert!(features.split([',', ' ']).any(|feature| feature == "release_max_level_info"), "{features}");
    }
}
