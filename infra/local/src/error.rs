//! Why the local cloud could not start, and why an invocation failed.

use std::path::PathBuf;

use bytes::Bytes;

/// Why the local cloud could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A port cannot be listened on, usually because another program does.
    #[error("cannot listen on port {port}: {cause}; choose another one with {option} (0 takes a free one)")]
    Listen {
        /// The port.
        port: u16,
        /// The command-line option that changes it.
        option: &'static str,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The folder of the public files cannot be created.
    #[error("cannot create the folder of the public files: {0}")]
    PublicFiles(std::io::Error),
    /// The template cannot be read.
    #[error("cannot read the template {}: {cause}", path.display())]
    ReadTemplate {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The template is invalid.
    #[error("the template is invalid at {place}: {reason}")]
    Template {
        /// The logical id and the property, joined by dots.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A parameter is unknown, missing or has an invalid value.
    #[error("{0}")]
    Parameter(String),
    /// Cargo itself cannot be run.
    #[error("cannot run {program} to build the functions: {cause}")]
    Cargo {
        /// The path of cargo.
        program: String,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The functions do not compile. Cargo has printed the reason to standard error.
    #[error("the functions do not build; see cargo's messages above")]
    Build,
    /// A function has no binary.
    #[error("{0}")]
    MissingBinary(String),
    /// The simulated upstream did not start.
    #[error("the simulator did not start: {0}")]
    Simulator(#[from] simulator::Error),
    /// The folder's database cannot be used.
    #[error("cannot keep data in {}: {reason}; choose another folder with --data", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The embedded database failed.
    #[error("the embedded DynamoDB failed: {0}")]
    DynamoDb(String),
}

/// Why an invocation has no response.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    /// There is no function of that name.
    #[error("the template has no function {0}")]
    UnknownFunction(String),
    /// The function did not respond, or responded with an error.
    #[error("{function}: {reason}")]
    Failed {
        /// The function's logical id.
        function: String,
        /// What happened.
        reason: String,
        /// Lambda's response: JSON with `errorType` and `errorMessage`, the function's own if there are any.
        payload: Bytes,
    },
}

/// Why a sample event cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The request is no HTTP request.
    #[error(transparent)]
    Request(#[from] hyper::http::Error),
    /// The route has another path than the request.
    #[error("the request does not match {0}")]
    NoRoute(String),
    /// The event is no JSON.
    #[error(transparent)]
    Event(#[from] serde_json::Error),
}
