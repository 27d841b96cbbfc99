//! The processes of a local cloud: its own and those of the functions, which are its children.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::unistd::Pid;

use crate::instance::{memory, processor_time};

/// Memory may grow by this share and this many MB after the first sample: an instance that has had few requests by then may still
/// have to fetch the bazaar into new buffers.
const GROWTH_SHARE: f64 = 0.1;
const GROWTH_MB: f64 = 12.0;

/// The memory of each process at one moment, in bytes, with the names of the programs.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample(BTreeMap<i32, (String, u64)>);

impl Sample {
    /// The process and its children, as far as they still run.
    pub(super) fn of(root: Pid) -> Self {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let relevant = pids.filter(|pid| *pid == root.as_raw() || parent(*pid) == Some(root.as_raw()));
        let sample = |pid: i32| {
            let bytes = memory(Pid::from_raw(pid), "VmRSS:").ok()?;
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            Some((pid, (name.trim().to_owned(), bytes)))
        };
        Self(relevant.filter_map(sample).collect())
    }

    /// The processor time of all functions, and that of the cloud without them.
    pub(super) fn processor_times(&self, root: Pid) -> (Duration, Duration) {
        let time = |pid: i32| processor_time(Pid::from_raw(pid)).unwrap_or_default();
        let functions = self.0.keys().filter(|pid| **pid != root.as_raw());
        (functions.map(|pid| time(*pid)).sum(), time(root.as_raw()))
    }

    /// The memory of all processes of each program, in MB.
    pub(super) fn megabytes(&self) -> BTreeMap<&str, f64> {
        let mut sums = BTreeMap::new();
        for (name, bytes) in self.0.values() {
            *sums.entry(name.as_str()).or_default() += megabytes(*bytes);
        }
        sums
    }

    /// A sentence for each process that has grown too much since.
    pub(super) fn growth(&self, later: &Self) -> Vec<String> {
        let grown = |(pid, (name, now)): (&i32, &(String, u64))| {
            let (before, now) = (megabytes(self.0.get(pid)?.1), megabytes(*now));
            let bound = before * (1.0 + GROWTH_SHARE) + GROWTH_MB;
            (now > bound).then(|| format!("{name} ({pid}) has grown from {before:.1} to {now:.1} MB"))
        };
        later.0.iter().filter_map(grown).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "memory is smaller than 2^53 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// The parent of a process: the second field after its name, which is in parentheses and may hold spaces.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(megabytes: u64) -> Sample {
        Sample(BTreeMap::from([(1, ("local".to_owned(), megabytes * 1024 * 1024))]))
    }

    #[test]
    fn growth_beyond_the_bound_is_reported() {
        assert!(sample(100).growth(&sample(121)).is_empty());
        assert_eq!(sample(100).growth(&sample(123)), ["local (1) has grown from 100.0 to 123.0 MB"]);
    }

    #[test]
    fn a_sample_has_this_process_and_its_children() {
        let this = Pid::this();
        let mut child = std::process::Command::new("/bin/sleep").arg("10").spawn().unwrap();
        let sample = Sample::of(this);
        assert!(sample.0.contains_key(&this.as_raw()));
        assert!(sample.0.contains_key(&i32::try_from(child.id()).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
