//! What is linked into the functions: one HTTP stack, one TLS stack, and nothing that a route does not need. Each
//! megabyte is start-up time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::Command;

use common::routes::{INDEX, VERSION_1};
use local::Options;

/// The versions of every package that the functions link, by name.
fn linked_packages() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(Options::default().template.parent().unwrap());
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    for route in VERSION_1.into_iter().chain([&INDEX]) {
        command.args(["--package", route.function]);
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
    let packages = linked_packages();
    for route in VERSION_1.into_iter().chain([&INDEX]) {
        assert!(packages.contains_key(route.function), "{} is not in the tree", route.function);
    }
    for name in ["hyper", "http", "http-body", "rustls", "ring", "tokio", "serde_json", "reqwest"] {
        let versions = packages.get(name).unwrap_or_else(|| panic!("{name} is not linked at all"));
        assert_eq!(versions.len(), 1, "{name}: {versions:?}");
    }
    for name in ["aws-lc-rs", "aws-lc-sys", "native-tls", "openssl", "openssl-sys", "boring", "h2"] {
        assert_eq!(packages.get(name), None, "{name} is linked");
    }
}

#[test]
fn the_functions_of_the_live_routes_link_no_store_and_no_development_tool() {
    let packages = linked_packages();
    for name in ["aws-sdk-dynamodb", "aws-config", "local", "simulator", "axum", "clap", "proptest"] {
        assert_eq!(packages.get(name), None, "{name} is linked");
    }
}
