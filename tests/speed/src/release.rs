//! Names and builds the released functions.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of the functions, which are the names of their folders.
///
/// # Errors
/// If the folder cannot be read.
fn functions() -> Result<Vec<String>, String> {
    let folder = workspace().join("functions");
    let listing = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = listing.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    // `functions/examples` is not a function.
    let folders = entries.iter().filter(|entry| entry.path().join("Cargo.toml").is_file());
    let mut names: Vec<_> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Returns `chosen`, or all functions if `chosen` is empty.
///
/// # Errors
/// If a chosen function does not exist.
pub(crate) fn choose(chosen: &[String]) -> Result<Vec<String>, String> {
    let all = functions()?;
    if let Some(unknown) = chosen.iter().find(|name| !all.contains(name)) {
        return Err(format!("unknown function {unknown}; the functions are {}", all.join(", ")));
    }
    Ok(if chosen.is_empty() { all } else { chosen.to_vec() })
}

/// Whether the function depends on this crate of the workspace.
pub(crate) fn depends_on(name: &str, dependency: &str) -> Result<bool, String> {
    let manifest = workspace().join("functions").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest)
        .map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    Ok(text.lines().any(|line| line.split_once('.').is_some_and(|(name, _)| name == dependency)))
}

/// Builds the functions and their floors (`hello`), and returns the folder of the programs.
///
/// # Errors
/// If the build fails. Cargo has printed the reason.
pub(crate) fn build(functions: &[impl AsRef<str>]) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace()).args(["build", "--release", "--package", "hello"]);
    // `cargo run` sets variables on which ring's build script depends. With them, Cargo would compile ring
    // and its dependents again.
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
    program.parent().map(Path::to_owned).ok_or_else(|| "this program has no folder".to_owned())
}
