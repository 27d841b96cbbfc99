//! The released functions: their names and programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace;

/// The names of the functions, which are the names of their folders.
///
/// # Errors
/// When the folder cannot be read.
fn functions() -> Result<Vec<String>, String> {
    let folder = workspace().join("functions");
    let listing = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = listing.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    // `functions/examples` is no function.
    let folders = entries.iter().filter(|entry| entry.path().join("Cargo.toml").is_file());
    let mut names: Vec<_> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// `chosen`, or all functions if it is empty.
///
/// # Errors
/// When there is no such function.
pub(crate) fn choose(chosen: &[String]) -> Result<Vec<String>, String> {
    let all = functions()?;
    if let Some(unknown) = chosen.iter().find(|name| !all.contains(name)) {
        return Err(format!("there is no function {unknown}; there are {}", all.join(", ")));
    }
    Ok(if chosen.is_empty() { all } else { chosen.to_vec() })
}

/// Whether the function depends on this crate of the workspace.
///
/// # Errors
/// When its manifest cannot be read.
pub(crate) fn depends_on(name: &str, dependency: &str) -> Result<bool, String> {
    let manifest = workspace().join("functions").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest)
        .map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    Ok(text.lines().any(|line| line.split_once('.').is_some_and(|(name, _)| name == dependency)))
}

/// Builds the functions and the smallest ones, and returns the folder with their programs.
///
/// # Errors
/// When they do not build. Cargo has printed why.
pub(crate) fn build(functions: &[impl AsRef<str>]) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace()).args(["build", "--release", "--package", "hello"]);
    // `cargo run` sets variables that ring's build script depends on: everything above it would be compiled again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    for name in functions {
        command.args(["--package", name.as_ref()]);
    }
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err("the functions do not build".to_owned());
    }
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    program.parent().map(Path::to_owned).ok_or_else(|| "this program is in no folder".to_owned())
}
