//! `cargo admin`, `cargo local` and `cargo test` build every dependency with the same features, so each is
//! compiled once.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic, and so may its helpers")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The sets of features with which each package is built. A package that is built for the host and for the
/// target may have two.
type Features = BTreeMap<String, BTreeSet<String>>;

/// The start of a path, which `cargo tree` shows only for the workspace's own packages.
const OWN_PACKAGE: &str = "(/";

fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The names of the packages that `cargo build` builds: the functions.
fn functions() -> Vec<String> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |id: &Value| {
        let package = packages.iter().find(|package| package["id"] == *id).unwrap();
        package["name"].as_str().unwrap().to_owned()
    };
    metadata["workspace_default_members"].as_array().unwrap().iter().map(name).collect()
}

fn features(edges: &str, selection: &[&str]) -> Features {
    let mut arguments = vec!["tree", "--locked", "--prefix=none", "--format={p}|{f}", "--edges", edges];
    arguments.extend(selection);
    let mut features = Features::new();
    // An empty line separates the trees of two packages.
    for line in cargo(&arguments).lines().filter(|line| !line.is_empty() && !line.contains(OWN_PACKAGE)) {
        let (package, set) = line.trim_end_matches(" (*)").split_once('|').unwrap();
        features.entry(package.to_owned()).or_default().insert(set.to_owned());
    }
    features
}

/// Returns the packages that `selection` builds with other features than the whole workspace does.
#[track_caller]
fn differences(command: &str, whole: &Features, selection: &Features) -> Vec<String> {
    assert!(!selection.is_empty(), "{command} selects no dependency");
    let differs = |(package, sets): &(&String, &BTreeSet<String>)| {
        whole.get(*package).is_none_or(|whole| !sets.is_subset(whole))
    };
    let describe =
        |(package, sets)| format!("{command}: {package} has {sets:?}, not {:?}", whole.get(package));
    selection.iter().filter(differs).map(describe).collect()
}

#[test]
fn the_local_cloud_its_functions_and_the_tests_share_their_dependencies() {
    let functions = functions();
    let whole = features("normal,build,dev", &["--workspace"]);
    let mut different = Vec::new();
    for tool in ["admin", "local", "openapi"] {
        let selection = features("normal,build", &["--package", tool]);
        different.extend(differences(&format!("cargo run --package {tool}"), &whole, &selection));
    }
    let mut with_functions = vec!["--package", "workspace-hack"];
    with_functions.extend(functions.iter().flat_map(|function| ["--package", function]));
    let selection = features("normal,build", &with_functions);
    different.extend(differences("cargo local's build of the functions", &whole, &selection));
    for tested in ["admin", "browser", "common", "local", "tables", "tests"] {
        let selection = features("normal,build,dev", &["--package", tested]);
        different.extend(differences(&format!("cargo test --package {tested}"), &whole, &selection));
    }

    let help = "add the missing features to infra/workspace-hack/Cargo.toml";
    assert!(different.is_empty(), "{help}:\n{}", different.join("\n"));
}
