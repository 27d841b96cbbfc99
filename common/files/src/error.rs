//! Why a file was not read or written.

use std::io;

use common::cache::SourceError;
use common::error::ApiError;
use common::gzip::CompressionError;
use common::routes::LONGEST_AGE;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bucket or folder did not accept the request.
    #[error("the bucket or folder refused the request")]
    Store(#[source] object_store::Error),
    /// Another run has replaced the file since it was looked up.
    #[error("the file was replaced while it was read")]
    Replaced,
    /// There was no response in time.
    #[error("the bucket did not answer in time")]
    Timeout,
    /// The file has not been replaced in time.
    #[error("the file has not been replaced for {} minutes", LONGEST_AGE.as_secs() / 60)]
    Outdated,
    /// The file is cut, or has other content.
    #[error("the file is incomplete or has other content: {0}")]
    Corrupt(&'static str),
    #[error("the folder cannot be locked")]
    Lock(#[from] io::Error),
    /// The content is not the expected JSON, or cannot be written as JSON.
    #[error("the content cannot be read or written as JSON")]
    Json(#[from] serde_json::Error),
    /// The content cannot be compressed.
    #[error(transparent)]
    Compression(#[from] CompressionError),
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::Precondition { .. } => Self::Replaced,
            error => Self::Store(error),
        }
    }
}

impl SourceError for Error {
    /// As for tables: S3 needs no protection from requests.
    const IS_SPARED: bool = false;

    fn is_failure(&self) -> bool {
        matches!(self, Self::Timeout)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::internal(error)
    }
}
