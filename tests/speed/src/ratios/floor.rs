//! The processes that functions are compared with. They are subcommands of this program.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::instance::{Program, processor_time};
use crate::pipeline::Pipeline;
use crate::release::this_program;

/// A process that runs the plain pipeline. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct PipelineProcess {
    pid: Pid,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl PipelineProcess {
    /// # Errors
    /// A sentence, when the process does not start.
    pub(super) fn start(base_url: &str, pipeline: Pipeline) -> Result<Self, String> {
        let name = pipeline.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let mut command = Command::new(this_program()?);
        command.args(["pipeline", base_url, &name]).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process =
            command.spawn().map_err(|error| format!("cannot start the plain pipeline: {error}"))?;
        let pid = process.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        match (pid, process.stdin.take(), process.stdout.take()) {
            (Some(pid), Some(input), Some(output)) => {
                Ok(Self { pid, input, output: BufReader::new(output).lines(), _process: process })
            }
            _ => Err("the plain pipeline has ended".to_owned()),
        }
    }

    /// The processor time of one of `count` runs.
    ///
    /// # Errors
    /// A sentence, when one fails; the process has printed why.
    pub(super) async fn block(&mut self, count: usize) -> Result<Duration, String> {
        let before = processor_time(self.pid)?;
        let written = self.input.write_all(format!("{count}\n").as_bytes()).await;
        let line = self.output.next_line().await;
        if written.is_err() || !matches!(line, Ok(Some(_))) {
            return Err("the plain pipeline has failed".to_owned());
        }
        let worked = processor_time(self.pid)?.saturating_sub(before);
        Ok(worked.div_f64(u32::try_from(count).map_or(f64::INFINITY, f64::from)))
    }
}

/// The time in which this program copies the response in memory.
pub(super) fn copy_in_memory(response: &[u8]) -> Duration {
    let mut copy = response.to_vec();
    let start = Instant::now();
    copy.copy_from_slice(black_box(response));
    black_box(copy);
    start.elapsed()
}

/// A temporary file with a response.
#[derive(Debug)]
pub(super) struct ResponseFile(PathBuf);

impl ResponseFile {
    /// # Errors
    /// A sentence, when it cannot be written.
    pub(super) fn new(response: &[u8]) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("speed-{}.json", std::process::id()));
        let written = std::fs::write(&path, response);
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The function that posts it.
    ///
    /// # Errors
    /// When the path of this program is not known.
    pub(super) fn program(&self) -> Result<Program, String> {
        let mut program = Program::new(this_program()?);
        program.arguments = vec!["copy".to_owned(), self.0.display().to_string()];
        Ok(program)
    }
}

impl Drop for ResponseFile {
    fn drop(&mut self) {
        // It is in the folder for temporary files, which the operating system empties.
        let _ = std::fs::remove_file(&self.0);
    }
}
