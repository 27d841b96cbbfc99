//! The processes of the functions: which there are, how much memory they have used, and how to kill one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// A running function.
#[derive(Debug, Clone)]
pub(super) struct Process {
    id: String,
    /// The name of the function.
    pub(super) function: String,
    /// The address of its DynamoDB, which tells the clouds apart.
    pub(super) database: String,
}

/// The functions that this process has started and that are running.
pub(super) fn running() -> Vec<Process> {
    let parent = format!("PPid:\t{}", std::process::id());
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| of(&entry.path(), &parent)).collect()
}

/// The process in this folder, if it is a child of the parent. A process can end at any time.
fn of(folder: &Path, parent: &str) -> Option<Process> {
    let id = folder.file_name()?.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
    let status = fs::read_to_string(folder.join("status")).ok()?;
    if !status.lines().any(|line| line == parent) {
        return None;
    }
    let program: PathBuf = fs::read_link(folder.join("exe")).ok()?;
    let environment = fs::read(folder.join("environ")).ok()?;
    let mut variables =
        environment.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let database = variables.find_map(|line| line.strip_prefix("AWS_ENDPOINT_URL_DYNAMODB="))?.to_owned();
    // A program that was built again is shown as deleted.
    let function = program.file_name()?.to_str()?.trim_end_matches(" (deleted)").to_owned();
    Some(Process { id: id.to_owned(), function, database })
}

impl Process {
    /// `kill -9`.
    pub(super) async fn kill(&self) {
        // It fails if the process has just ended.
        let _ =
            Command::new("kill").args(["-9", &self.id]).stderr(std::process::Stdio::null()).status().await;
    }

    /// The peak of its resident memory in KiB.
    fn peak(&self) -> Option<u64> {
        let status = fs::read_to_string(Path::new("/proc").join(&self.id).join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }
}

/// The highest peaks of memory so far, in KiB by function.
#[derive(Debug, Default)]
pub(super) struct Peaks(pub(super) BTreeMap<String, u64>);

impl Peaks {
    pub(super) fn update(&mut self, running: &[Process]) {
        for process in running {
            if let Some(peak) = process.peak() {
                let highest = self.0.entry(process.function.clone()).or_default();
                *highest = peak.max(*highest);
            }
        }
    }
}
