//! The released functions: their names and programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::workspace;

/// Where the programs are
#[derive(Args)]
pub(crate) struct Binaries {
    /// Measure the programs in this folder instead of building them
    #[arg(long, value_name = "DIR")]
    binaries: Option<PathBuf>,
}

impl Binaries {
    /// The folder with the programs of the functions and their floors, which are built if no folder is given.
    ///
    /// # Errors
    /// When they do not build. Cargo has printed why.
    pub(crate) fn folder(&self, functions: &[String]) -> Result<PathBuf, String> {
        match &self.binaries {
            Some(folder) => std::path::absolute(folder)
                .map_err(|error| format!("cannot use {}: {error}", folder.display())),
            None => build(functions),
        }
    }
}

/// The names of the functions, which are the names of their folders.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn functions() -> Result<Vec<String>, String> {
    let folder = workspace().join("functions");
    let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
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
    let functions = functions()?;
    if let Some(unknown) = chosen.iter().find(|name| !functions.contains(name)) {
        return Err(format!("there is no function {unknown}; there are {}", functions.join(", ")));
    }
    Ok(if chosen.is_empty() { functions } else { chosen.to_vec() })
}

/// Whether the function depends on this crate of the workspace.
///
/// # Errors
/// When its manifest cannot be read.
pub(crate) fn depends_on(name: &str, dependency: &str) -> Result<bool, String> {
    let manifest = workspace().join("functions").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest);
    let text = text.map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    Ok(text.lines().any(|line| line.split_once('.').is_some_and(|(name, _)| name == dependency)))
}

fn build(functions: &[String]) -> Result<PathBuf, String> {
    let mut arguments = vec!["build", "--release", "--package", "hello"];
    for name in functions {
        arguments.extend(["--package", name]);
    }
    cargo(&arguments)?;
    Ok(target()?.join("release"))
}

/// Runs Cargo.
///
/// # Errors
/// When it fails. It has printed why.
pub(crate) fn cargo(arguments: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo).current_dir(workspace()).args(arguments).status();
    let status = status.map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} fails", arguments.join(" "))) }
}

/// Cargo's target folder: Cargo has built this program, too.
///
/// # Errors
/// A sentence, when this program has been moved.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program = this_program()?;
    let target = program.parent().and_then(Path::parent).ok_or("this program is not in a target folder")?;
    Ok(target.to_owned())
}

/// The path of this program.
///
/// # Errors
/// A sentence, when the operating system does not tell.
pub(crate) fn this_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))
}
