//! One operation on a table: requests to DynamoDB with a deadline, and errors that name the table and the
//! operation.

use std::error::Error as StandardError;
use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

use crate::error::{Error, cause};
use crate::table::Table;

/// The pause before the unprocessed requests of a batch are sent again. It doubles each time and is partly
/// random.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation<'a> {
    pub(crate) table: &'a Table,
    /// The name of the operation, in DynamoDB's words.
    pub(crate) name: &'static str,
    pub(crate) deadline: Instant,
}

impl<'a> Operation<'a> {
    /// Returns the response to `request`. The future is boxed because the SDK's futures take 30 kB each.
    pub(crate) fn send<T, E, R>(
        self,
        request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>>
    where
        E: StandardError + ProvideErrorMetadata + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
        T: Send,
    {
        let table = || self.table.name().to_owned();
        let in_time = async move {
            match timeout_at(self.deadline, request).await {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(SdkError::TimeoutError(_))) | Err(_) => {
                    Err(Error::Timeout { table: table(), operation: self.name })
                }
                Ok(Err(error)) => Err(Error::Failed {
                    table: table(),
                    operation: self.name,
                    code: error.code().map(str::to_owned),
                    cause: cause(&error),
                }),
            }
        };
        in_time.boxed()
    }

    /// Returns the response to a conditional `request`, or `None` if its condition does not hold, which
    /// `is_refused` recognises.
    pub(crate) fn send_conditional<T, E, R>(
        self,
        request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
        is_refused: impl Fn(&SdkError<E, R>) -> bool + Send + 'a,
    ) -> BoxFuture<'a, Result<Option<T>, Error>>
    where
        E: StandardError + ProvideErrorMetadata + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
        T: Send,
    {
        let conditional = request.map(move |result| match result {
            Ok(response) => Ok(Some(response)),
            Err(error) if is_refused(&error) => Ok(None),
            Err(error) => Err(error),
        });
        self.send(conditional)
    }

    /// Waits for about `pause` before the unprocessed requests of a batch are sent again, and returns the
    /// next pause.
    ///
    /// # Errors
    /// If the pause would not end before the deadline.
    pub(crate) async fn pause(self, pause: Duration) -> Result<Duration, Error> {
        let pause = pause.mul_f64(fastrand::f64() + 0.5);
        if Instant::now() + pause >= self.deadline {
            return Err(self.incomplete());
        }
        tokio::time::sleep(pause).await;
        Ok((pause * 2).min(LONGEST_PAUSE))
    }

    /// The error of a batch that DynamoDB did not process completely in time.
    pub(crate) fn incomplete(self) -> Error {
        self.failed("throttling left a part of the batch undone")
    }

    /// Returns an error that did not come from DynamoDB.
    pub(crate) fn failed(self, cause: impl Into<String>) -> Error {
        let table = self.table.name().to_owned();
        Error::Failed { table, operation: self.name, code: None, cause: cause.into() }
    }
}
