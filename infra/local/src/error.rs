//! Why the local cloud could not start, and why an invocation failed. Each text is one sentence that a person can act on.

use std::net::SocketAddr;
use std::path::PathBuf;

use bytes::Bytes;

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
    /// There is no database in the folder for it.
    #[error("cannot keep data in {}: {reason}; choose another folder with --data", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The keys to begin with are not in their table.
    #[error("the keys to begin with cannot be written: {0}")]
    Keys(String),
    /// The embedded database does not work.
    #[error("the embedded DynamoDB fails: {0}")]
    DynamoDb(String),
}

/// Why an invocation brought no response.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    /// There is no function of that name.
    #[error("the template has no function {0}")]
    UnknownFunction(String),
    /// The function did not answer, or answered with an error.
    #[error("{function}: {reason}")]
    Failed {
        /// The function's logical id.
        function: String,
        /// What happened.
        reason: String,
        /// What Lambda would answer: JSON with `errorType` and `errorMessage`, the function's own where it had any.
        payload: Bytes,
    },
}
