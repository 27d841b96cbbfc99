//! Why an operation on a table failed.

use std::error::Error as StandardError;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use common::cache::SourceError;
use common::error::{ApiError, chain};

/// Why an operation on a table failed. For the log and for the operators' tools.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There was no response in time.
    #[error("the table {table} did not answer {operation} in time")]
    Timeout {
        table: String,
        /// The operation, in DynamoDB's words.
        operation: &'static str,
    },
    /// DynamoDB returned an error, or could not be reached.
    #[error("the table {table} failed at {operation}: {cause}")]
    Failed {
        table: String,
        /// The operation, in DynamoDB's words.
        operation: &'static str,
        /// DynamoDB's code, if DynamoDB returned an error.
        code: Option<String>,
        /// The message of DynamoDB or of the client.
        cause: String,
    },
    /// A row is corrupt and cannot be skipped.
    #[error("the row {key} of the table {table} is corrupt: {cause}")]
    Corrupt {
        table: String,
        /// The row's partition key.
        key: String,
        /// A description of the defect.
        cause: String,
    },
    /// The rows cannot be written as JSON.
    #[error("the rows cannot be written as a response: {0}")]
    Unwritable(String),
}

impl Error {
    /// DynamoDB's code, such as `ResourceNotFoundException`; `None` if the error is not DynamoDB's.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        if let Self::Failed { code, .. } = self { code.as_deref() } else { None }
    }

    /// Whether DynamoDB throttled the operation, so that a retry may succeed.
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        const CODES: [&str; 3] =
            ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"];
        self.code().is_some_and(|code| CODES.contains(&code))
    }

    /// The error of rows that cannot be written as JSON.
    #[must_use]
    pub fn unwritable(error: impl StandardError + 'static) -> Self {
        Self::Unwritable(chain(&error))
    }
}

impl SourceError for Error {
    /// A request without a stale value always queries DynamoDB, even shortly after a failure: the query may
    /// succeed, and without it the request fails for certain. DynamoDB needs no protection from queries. The
    /// authorizer never has a stale value, so it always queries.
    const IS_SPARED: bool = false;

    /// Only a timeout starts a pause. Other errors arrive quickly, so the next request can query again at
    /// once.
    fn is_failure(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::internal(error)
    }
}

/// Why a route that reads a table has no response.
#[derive(Debug, thiserror::Error)]
pub enum ResponseError {
    /// The operation on the table failed.
    #[error(transparent)]
    Table(#[from] Error),
    /// The table has no data for the response.
    #[error(transparent)]
    Nothing(ApiError),
}

impl SourceError for ResponseError {
    const IS_SPARED: bool = Error::IS_SPARED;

    fn is_failure(&self) -> bool {
        matches!(self, Self::Table(error) if error.is_failure())
    }
}

impl From<ResponseError> for ApiError {
    fn from(error: ResponseError) -> Self {
        match error {
            ResponseError::Table(error) => error.into(),
            ResponseError::Nothing(error) => error,
        }
    }
}

/// Returns the cause of the error: DynamoDB's code and message if it returned an error, otherwise the error
/// and all its sources.
#[must_use]
pub fn cause<E, R>(error: &SdkError<E, R>) -> String
where
    E: StandardError + ProvideErrorMetadata + 'static,
    R: std::fmt::Debug + 'static,
{
    match error.as_service_error().map(|error| (error.code(), error.message())) {
        Some((Some(code), Some(message))) => format!("{code}: {message}"),
        Some((Some(code), None)) => code.to_owned(),
        _ => chain(error),
    }
}
