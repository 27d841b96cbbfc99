//! The processes of the functions: which there are, and how to kill one.

use std::fs;
use std::path::Path;

use tokio::process::Command;

/// A running function.
#[derive(Debug, Clone)]
pub(super) struct Process {
    id: String,
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
    let environment = fs::read(folder.join("environ")).ok()?;
    let mut variables =
        environment.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    let database = variables.find_map(|line| line.strip_prefix("AWS_ENDPOINT_URL_DYNAMODB="))?.to_owned();
    Some(Process { id: id.to_owned(), database })
}

impl Process {
    /// `kill -9`.
    pub(super) async fn kill(&self) {
        // It fails if the process has just ended.
        let _ =
            Command::new("kill").args(["-9", &self.id]).stderr(std::process::Stdio::null()).status().await;
    }
}
