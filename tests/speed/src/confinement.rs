//! Starts a program inside a control group and on a core. A shell waits until it is there and then becomes the program, so that
//! the program is confined from its first instruction.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

#[cfg(target_os = "linux")]
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

const SHELL: &str = "/bin/sh";
const WAIT_AND_BECOME: &str = r#"read -r _ && exec "$0" "$@" </dev/null"#;

/// Where a program runs.
#[derive(Debug, Clone)]
pub(crate) struct Confinement {
    /// The file to which the id of a process is written that joins the control group.
    pub(crate) processes: PathBuf,
    pub(crate) core: Option<usize>,
}

impl Confinement {
    /// The command of a program that waits for [`release`](Self::release).
    pub(crate) fn command(program: &Path) -> Command {
        let mut command = Command::new(SHELL);
        command.args(["-c", WAIT_AND_BECOME]).arg(program).stdin(Stdio::piped());
        command
    }

    /// Confines the process, lets it become the program, and returns when.
    ///
    /// # Errors
    /// A sentence, when the system refuses.
    pub(crate) async fn release(&self, child: &mut Child, pid: Pid) -> Result<Instant, String> {
        std::fs::write(&self.processes, pid.to_string())
            .map_err(|error| format!("cannot use {}: {error}", self.processes.display()))?;
        if let Some(core) = self.core {
            pin(pid, core)?;
        }
        let mut gate = child.stdin.take().ok_or("a confined program has no input")?;
        let start = Instant::now();
        gate.write_all(b"\n").await.map_err(|error| format!("a confined program has ended: {error}"))?;
        Ok(start)
    }
}

/// Keeps a process on a core.
///
/// # Errors
/// A sentence, when the system refuses.
#[cfg(target_os = "linux")]
pub(crate) fn pin(process: Pid, core: usize) -> Result<(), String> {
    let mut cores = CpuSet::new();
    let set = cores.set(core).and_then(|()| sched_setaffinity(process, &cores));
    set.map_err(|error| format!("cannot keep a process on core {core}: {error}"))
}

/// # Errors
/// Always: this needs Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_: Pid, _: usize) -> Result<(), String> {
    Err("only Linux keeps a process on a core".to_owned())
}
