//! What is linked into the functions: one HTTP stack, one TLS stack, and nothing that a route does not need. Each
//! megabyte is start-up time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::Command;

use common::routes::{INDEX, VERSION_1};
use local::Options;

/// The functions that have a table.
const WITH_TABLE: [&str; 7] = [
    "authorizer",
    "bazaar-history",
    "fire-sales-history",
    "mayor-history",
    "record-bazaar",
    "record-fire-sales",
    "record-mayor",
];

/// The functions that have none.
fn without_table() -> Vec<&'static str> {
    let functions = VERSION_1.into_iter().chain([&INDEX]).map(|route| route.function);
    functions.filter(|function| !WITH_TABLE.contains(function)).collect()
}

/// The versions of every package that `functions` link, by name.
fn linked_packages(functions: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(Options::default().template.parent().unwrap());
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    for function in functions {
        command.args(["--package", function]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut packages = BTreeMap::<_, BTreeSet<_>>::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        // `hyper v1.12.0`, with more behind it for what was printed before or lies in a folder; or an empty line.
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            packages.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    packages
}

#[test]
fn the_functions_link_one_http_stack_and_one_tls_stack() {
    for functions in [without_table(), WITH_TABLE.to_vec()] {
        let packages = linked_packages(&functions);
        for function in functions {
            assert!(packages.contains_key(function), "{function} is not in the tree");
        }
        for name in ["hyper", "http", "http-body", "rustls", "ring", "tokio", "serde_json", "reqwest"] {
            let versions = packages.get(name).unwrap_or_else(|| panic!("{name} is not linked at all"));
            assert_eq!(versions.len(), 1, "{name}: {versions:?}");
        }
        for name in ["aws-lc-rs", "aws-lc-sys", "native-tls", "openssl", "openssl-sys", "boring", "h2"] {
            assert_eq!(packages.get(name), None, "{name} is linked");
        }
    }
}

#[test]
fn functions_link_no_store_unless_they_have_a_table_and_no_development_tool_at_all() {
    let packages = linked_packages(&without_table());
    for name in ["aws-sdk-dynamodb", "aws-config", "tables"] {
        assert_eq!(packages.get(name), None, "{name} is linked");
    }
    for packages in [packages, linked_packages(&WITH_TABLE)] {
        for name in ["local", "simulator", "axum", "clap", "proptest", "dynoxide-rs", "openapi"] {
            assert_eq!(packages.get(name), None, "{name} is linked");
        }
    }
}
