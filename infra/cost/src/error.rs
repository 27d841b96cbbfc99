//! Why a measurement failed.

use std::path::PathBuf;

use local::InvocationError;

use crate::targets::MIN_PRODUCTS;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The snapshot's file cannot be read.
    #[error("cannot read the snapshot {}: {cause}", path.display())]
    ReadSnapshot {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        cause: std::io::Error,
    },
    /// The snapshot is not a bazaar body.
    #[error("the snapshot is not a body of the provider's bazaar: {0}")]
    InvalidSnapshot(String),
    /// The snapshot is too small to be representative.
    #[error("the snapshot has {0} products; at least {MIN_PRODUCTS} are needed for a realistic measurement")]
    TooFewProducts(usize),
    /// The local cloud did not start.
    #[error(transparent)]
    Cloud(#[from] local::Error),
    /// A function did not respond.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// A function responded with something unexpected.
    #[error("unexpected response of {function}: {reason}")]
    Response {
        /// The function's binary.
        function: &'static str,
        /// What is wrong with the response.
        reason: String,
    },
    /// The embedded database failed.
    #[error("the embedded DynamoDB failed: {0}")]
    DynamoDb(String),
}
