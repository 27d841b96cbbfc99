//! The processes of a local cloud: its own and those of the functions, which are its children.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::unistd::Pid;

use crate::instance::{memory, processor_time};

/// The memory of a program may grow by this share, and by this many MB for each of its processes, after the first sample: an
/// instance that has had few requests by then may still have to fetch the bazaar into new buffers.
const GROWTH_SHARE: f64 = 0.1;
const GROWTH_MB: f64 = 12.0;
/// A function grows by this many bytes with each request: `lambda_runtime` sets an environment variable for each, of which the GNU C
/// library keeps every value.
const BYTES_PER_REQUEST: f64 = 144.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;

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

    /// A sentence for each program whose processes have grown too much since; `requests` says how many each function has handled.
    pub(super) fn growth(&self, later: &Self, requests: impl Fn(&str) -> f64) -> Vec<String> {
        let mut programs: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
        for (pid, (name, now)) in &later.0 {
            if let Some((_, before)) = self.0.get(pid) {
                let (first, last, bound) = programs.entry(name).or_default();
                *first += megabytes(*before);
                *last += megabytes(*now);
                *bound += megabytes(*before) * (1.0 + GROWTH_SHARE) + GROWTH_MB;
            }
        }
        let grown = |(name, (before, now, bound)): (&str, (f64, f64, f64))| {
            let kept = requests(name) * BYTES_PER_REQUEST / MEGABYTE;
            (now > bound + kept).then(|| format!("{name} has grown from {before:.1} to {now:.1} MB"))
        };
        programs.into_iter().filter_map(grown).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "memory is smaller than 2^53 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGABYTE
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
        let growth = |after, requests| sample(100).growth(&sample(after), |_| requests);
        assert!(growth(121, 0.0).is_empty());
        assert_eq!(growth(123, 0.0), ["local has grown from 100.0 to 123.0 MB"]);
        assert!(growth(123, 10_000.0).is_empty(), "what the runtime's library keeps");
        assert!(sample(100).growth(&Sample::default(), |_| 0.0).is_empty(), "a process that has ended");
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
