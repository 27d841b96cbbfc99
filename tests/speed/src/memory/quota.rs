//! A processor share: a control group of Linux in which a process gets a quota of each period. Lambda gives a function with
//! M MB the share M/1769.

use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use crate::confinement::pin;

/// The memory with which a function has one core.
pub(crate) const MB_PER_CORE: u32 = 1769;
/// Short, so that the pauses are: as a share of a second, a function with 128 MB would run for 72 ms and then pause for 928.
pub(super) const PERIOD_US: u32 = 20_000;

const VERSION_1: &str = "/sys/fs/cgroup/cpu";
const VERSION_2: &str = "/sys/fs/cgroup";

/// The control group. Dropping it removes it, if its processes have ended.
#[derive(Debug)]
pub(super) struct Quota {
    folder: PathBuf,
    is_version_1: bool,
}

impl Quota {
    /// # Errors
    /// A sentence, when this machine has no control groups or does not allow to use them.
    pub(super) fn create() -> Result<Self, String> {
        let name = format!("speed-{}", std::process::id());
        let is_version_1 = Path::new(VERSION_1).join("cpu.cfs_quota_us").exists();
        let parent = Path::new(if is_version_1 { VERSION_1 } else { VERSION_2 });
        if !is_version_1 {
            write(&parent.join("cgroup.subtree_control"), "+cpu")?;
        }
        let folder = parent.join(name);
        std::fs::create_dir(&folder)
            .map_err(|error| format!("cannot create the control group {}: {error}", folder.display()))?;
        let quota = Self { folder, is_version_1 };
        if is_version_1 {
            write(&quota.folder.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
        }
        Ok(quota)
    }

    /// Gives the group the share of a function with this memory.
    ///
    /// # Errors
    /// A sentence, when the system refuses.
    pub(super) fn set(&self, memory_mb: u32) -> Result<(), String> {
        let quota = share_us(memory_mb);
        if self.is_version_1 {
            write(&self.folder.join("cpu.cfs_quota_us"), &quota.to_string())
        } else {
            write(&self.folder.join("cpu.max"), &format!("{quota} {PERIOD_US}"))
        }
    }

    /// The file to which the id of a process is written that joins the group.
    pub(super) fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // An empty group that stays does no harm.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// The processor time per period of a function with this memory.
fn share_us(memory_mb: u32) -> u32 {
    (memory_mb * PERIOD_US / MB_PER_CORE).min(PERIOD_US)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| {
        format!("this measures with control groups and may not use them: {}: {error}", file.display())
    })
}

/// Keeps this program, and what it starts from now on, on the first core, and returns another core, or `None` on a machine with
/// one core only.
///
/// # Errors
/// A sentence, when the system refuses.
pub(super) fn leave_a_core() -> Result<Option<usize>, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let Some(last) = cores.checked_sub(1).filter(|last| *last > 0) else { return Ok(None) };
    pin(Pid::from_raw(0), 0)?;
    Ok(Some(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_that_of_lambda() {
        assert_eq!(share_us(128), 1447);
        assert_eq!(share_us(1769), PERIOD_US);
    }
}
