//! Builds the functions with cargo and finds their binaries. A release build selects only the functions'
//! packages, so that dependencies have the same features as in a deployment. In other builds,
//! `infra/workspace-hack` unifies the features, so that the functions share compiled dependencies with `cargo
//! local` or with the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::error::Error;

/// The profile of a deployment.
const RELEASE: &str = "release";

/// The paths of binaries, by name.
type Programs = BTreeMap<String, PathBuf>;
/// A build: the workspace, the profile, and the packages.
type Request = (PathBuf, String, BTreeSet<String>);

/// The finished builds of this process. The lock is held during a build: a second cargo would only wait for
/// the first.
static BUILT: Mutex<BTreeMap<Request, Programs>> = Mutex::const_new(BTreeMap::new());

/// Builds the packages and returns their binaries.
///
/// # Errors
/// When cargo cannot be run, or the packages do not compile. Cargo prints the reason to standard error.
pub(crate) async fn build(
    workspace: &Path,
    profile: &str,
    packages: BTreeSet<String>,
) -> Result<Programs, Error> {
    let mut built = BUILT.lock().await;
    let request = (workspace.to_owned(), profile.to_owned(), packages);
    if let Some(programs) = built.get(&request) {
        return Ok(programs.clone());
    }
    let mut command = cargo(workspace);
    command.stdout(Stdio::piped()).args([
        "build",
        "--message-format=json-render-diagnostics",
        "--profile",
        profile,
    ]);
    if profile != RELEASE {
        command.args(["--package", "workspace-hack"]);
    }
    for package in &request.2 {
        command.args(["--package", package]);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot_run =
        |cause: io::Error| Error::new(format!("cannot run {program} to build the functions: {cause}"));
    let child = Command::from(command).kill_on_drop(true).spawn().map_err(cannot_run)?;
    let output = child.wait_with_output().await.map_err(cannot_run)?;
    if !output.status.success() {
        return Err(Error::new("the functions do not build; see cargo's messages above"));
    }
    let programs = executables(&output.stdout);
    built.insert(request, programs.clone());
    Ok(programs)
}

/// Returns a command in the folder `workspace` for the cargo that runs this process, or else for `cargo` in
/// the path.
///
/// `cargo run` and `cargo test` set variables that some build scripts (ring's) depend on. The command removes
/// these variables: otherwise those scripts and their dependents would be compiled again, here and in the
/// next build outside this process.
#[must_use]
pub fn cargo(workspace: &Path) -> std::process::Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = std::process::Command::new(program);
    command.current_dir(workspace).stdin(Stdio::null());
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        if name == "OUT_DIR" || name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&variable);
        }
    }
    command
}

/// The binaries in cargo's messages, one message per line.
fn executables(messages: &[u8]) -> Programs {
    let executable = |line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let name = message.pointer("/target/name")?.as_str()?.to_owned();
        Some((name, PathBuf::from(message.get("executable")?.as_str()?)))
    };
    messages.split(|byte| *byte == b'\n').filter_map(executable).collect()
}
