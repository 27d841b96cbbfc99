//! Why the local cloud could not start. Each text is one sentence that a person can act on.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the local cloud could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another program listens on the port.
    #[error("port {port} is in use; choose another one with {option} (0 takes a free one)")]
    PortInUse {
        /// The port that was asked for.
        port: u16,
        /// The command-line option that changes it.
        option: &'static str,
    },
    /// A port cannot be listened on for another reason.
    #[error("cannot listen on {address}: {cause}; choose another port with {option}")]
    Listen {
        /// What was asked for.
        address: SocketAddr,
        /// The command-line option that changes it.
        option: &'static str,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The template cannot be read.
    #[error("cannot read the template {}: {cause}", path.display())]
    ReadTemplate {
        /// Where it was looked for.
        path: PathBuf,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The template does not say what it has to.
    #[error("the template is broken at {place}: {reason}")]
    Template {
        /// Logical id and property, joined by dots.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A parameter was given that the template does not have, or with a value that it does not allow.
    #[error("{0}")]
    Parameter(String),
    /// Cargo itself cannot be run.
    #[error("cannot run {program} to build the functions: {cause}")]
    Cargo {
        /// The cargo that was tried.
        program: String,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The functions do not compile. Cargo has said why on standard error.
    #[error("the functions do not build: cargo's own messages above say why")]
    Build,
    /// A function has no program.
    #[error("{function} has no binary {binary}: {hint}")]
    MissingBinary {
        /// The function's logical id.
        function: String,
        /// The name that the template gives.
        binary: String,
        /// Where it was looked for.
        hint: String,
    },
    /// The simulated upstream did not start.
    #[error("the simulator does not start: {0}")]
    Simulator(#[from] simulator::Error),
}
