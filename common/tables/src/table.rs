//! One table, and what every use of it needs: a deadline, errors for the log, batches written to their end, and the
//! capacity that they took.

use std::collections::HashMap;
use std::error::Error as StandardError;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity, WriteRequest};
use common::cache::SourceError;
use common::config::Config;
use common::error::{ApiError, chain};
use common::http::{self, ClientError};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use reqwest::Url;
use tokio::time::{Instant, timeout_at};

use crate::client;
use crate::item::Item;

/// How many rows a batch may write, and read (DynamoDB's bounds).
const WRITE_BATCH: usize = 25;
const READ_BATCH: usize = 100;
/// How many batches are on their way at a time: enough to hide the way there and back, few enough for one small function.
const BATCHES_AT_A_TIME: usize = 8;
/// How long is waited before the rest of a batch is sent again: doubled each time, with a random part.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What is said of a batch that DynamoDB did not carry out to its end in time.
const UNDONE: &str = "it was throttled, and a part is undone";

/// Why a table gave no answer. For the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer in time.
    #[error("the table {table} did not answer {operation} in time")]
    Timeout {
        /// The table's name.
        table: String,
        /// What was asked of it.
        operation: &'static str,
    },
    /// A refusal, or no way to get through.
    #[error("the table {table} failed at {operation}: {cause}")]
    Failed {
        /// The table's name.
        table: String,
        /// What was asked of it.
        operation: &'static str,
        /// DynamoDB's name for the error, if it was DynamoDB that refused.
        code: Option<String>,
        /// What DynamoDB or the client says.
        cause: String,
    },
    /// A row that somebody else must have written, and that nothing can be decided by.
    #[error("the row {key} of the table {table} is corrupt: {cause}")]
    Corrupt {
        /// The table's name.
        table: String,
        /// The row's partition key.
        key: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Rows that cannot be written as an answer.
    #[error("the rows cannot be written as an answer: {0}")]
    Unwritable(String),
    /// It did not answer in time a moment ago, and is not asked while there is something else to serve.
    #[error("the table did not answer in time a moment ago")]
    Paused,
}

impl Error {
    /// DynamoDB's name for the error, such as `ResourceNotFoundException`; `None` where DynamoDB did not get to say one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        if let Self::Failed { code, .. } = self { code.as_deref() } else { None }
    }

    /// Whether DynamoDB would take the same later: too much was asked of it at once.
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        const NAMES: [&str; 3] =
            ["ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"];
        self.code().is_some_and(|code| NAMES.contains(&code))
    }

    /// That the rows cannot be written as an answer.
    #[must_use]
    pub fn unwritable(error: impl StandardError + 'static) -> Self {
        Self::Unwritable(chain(&error))
    }
}

impl SourceError for Error {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    fn paused() -> Self {
        Self::Paused
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::internal(error)
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    /// What a function opens its connection with while it starts.
    early: Option<(reqwest::Client, Url)>,
    name: String,
}

impl Table {
    /// The table that holds history, as a function finds it.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn history(config: &Config) -> Result<Self, ClientError> {
        Self::of_function(config, &config.history_table)
    }

    /// The table that holds accounts and keys, as a function finds it.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn access(config: &Config) -> Result<Self, ClientError> {
        Self::of_function(config, &config.access_table)
    }

    fn of_function(config: &Config, name: &str) -> Result<Self, ClientError> {
        let http = http::client(|client| client)?;
        let url = config
            .dynamodb_endpoint
            .clone()
            .or_else(|| Url::parse(&format!("https://dynamodb.{}.amazonaws.com", config.aws_region)).ok());
        let client = client::of_function(config, http.clone());
        Ok(Self { client, early: url.map(|url| (http, url)), name: name.to_owned() })
    }

    /// The table `name`, as a tool finds it.
    #[must_use]
    pub fn of_sdk(sdk: &aws_config::SdkConfig, name: &str) -> Self {
        Self { client: client::of_sdk(sdk), early: None, name: name.to_owned() }
    }

    /// Opens a connection while the function starts.
    pub async fn warm_up(&self) {
        if let Some((http, url)) = &self.early {
            http::warm_up(http, url).await;
        }
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A query of this table.
    pub(crate) fn query(&self) -> QueryFluentBuilder {
        self.client.query().table_name(&self.name).return_consumed_capacity(ReturnConsumedCapacity::Total)
    }

    /// Every row that `query` finds, at most `limit`, in its order. One page, unless DynamoDB's bound of 1 MB cuts it.
    pub(crate) async fn rows(
        &self,
        query: QueryFluentBuilder,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<Item>, Error> {
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let left = i32::try_from(limit - rows.len()).unwrap_or(i32::MAX);
            let page = query.clone().limit(left).set_exclusive_start_key(after).send();
            let page = self.in_time("Query", deadline, page).await?;
            rows.extend(page.items.unwrap_or_default());
            after = page.last_evaluated_key;
            if after.is_none() || rows.len() >= limit {
                return Ok(rows);
            }
        }
    }

    /// Every row that `query` finds, in its order, page by page. Each page may take as long as `patience`.
    pub(crate) fn pages(
        &self,
        query: QueryFluentBuilder,
        patience: Duration,
    ) -> impl Stream<Item = Result<Vec<Item>, Error>> {
        stream::try_unfold(Some(None), move |after: Option<Option<Item>>| {
            let query = query.clone();
            async move {
                let Some(after) = after else { return Ok(None) };
                let page = query.set_exclusive_start_key(after).send();
                let page = self.in_time("Query", Instant::now() + patience, page).await?;
                Ok(Some((page.items.unwrap_or_default(), page.last_evaluated_key.map(Some))))
            }
        })
    }

    /// The rows with these keys, those that are there, in no order.
    pub(crate) async fn get_all(
        &self,
        keys: Vec<Item>,
        consistent: bool,
        deadline: Instant,
    ) -> Result<Vec<Item>, Error> {
        let batches = keys.chunks(READ_BATCH).map(<[Item]>::to_vec).collect::<Vec<_>>();
        let batches = stream::iter(batches).map(|keys| self.get_batch(keys, consistent, deadline));
        let batches: Vec<Vec<Item>> = batches.buffer_unordered(BATCHES_AT_A_TIME).try_collect().await?;
        Ok(batches.into_iter().flatten().collect())
    }

    async fn get_batch(
        &self,
        keys: Vec<Item>,
        consistent: bool,
        deadline: Instant,
    ) -> Result<Vec<Item>, Error> {
        let wanted = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(consistent).build();
        let wanted = wanted.map_err(|error| self.failed("BatchGetItem", chain(&error)))?;
        let mut left = HashMap::from([(self.name.clone(), wanted)]);
        let mut rows = Vec::new();
        let mut pause = FIRST_PAUSE;
        loop {
            let request = self.client.batch_get_item().set_request_items(Some(left)).send();
            let answer = self.in_time("BatchGetItem", deadline, request).await?;
            rows.extend(answer.responses.into_iter().flatten().flat_map(|(_, rows)| rows));
            match answer.unprocessed_keys.filter(|unprocessed| !unprocessed.is_empty()) {
                None => return Ok(rows),
                Some(unprocessed) => left = unprocessed,
            }
            pause = self.pause("BatchGetItem", pause, deadline).await?;
        }
    }

    /// Does all of it, some at a time and in no order, and says how many write units it took. What DynamoDB leaves
    /// unprocessed is sent again until the deadline.
    pub(crate) async fn write_all(
        &self,
        requests: Vec<WriteRequest>,
        deadline: Instant,
    ) -> Result<f64, Error> {
        let batches = requests.chunks(WRITE_BATCH).map(<[WriteRequest]>::to_vec).collect::<Vec<_>>();
        stream::iter(batches)
            .map(|batch| self.write_batch(batch, deadline))
            .buffer_unordered(BATCHES_AT_A_TIME)
            .try_fold(0.0, async |sum, units| Ok(sum + units))
            .await
    }

    async fn write_batch(&self, batch: Vec<WriteRequest>, deadline: Instant) -> Result<f64, Error> {
        let mut units = 0.0;
        let mut pause = FIRST_PAUSE;
        let mut is_throttled = false;
        let mut left = HashMap::from([(self.name.clone(), batch)]);
        loop {
            let request = self.client.batch_write_item().set_request_items(Some(left.clone()));
            let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send();
            match self.in_time("BatchWriteItem", deadline, request).await {
                Ok(answer) => {
                    let consumed = answer.consumed_capacity.unwrap_or_default();
                    units += consumed.iter().filter_map(|consumed| consumed.capacity_units).sum::<f64>();
                    match answer.unprocessed_items.filter(|unprocessed| !unprocessed.is_empty()) {
                        None => return Ok(units),
                        Some(unprocessed) => left = unprocessed,
                    }
                }
                // DynamoDB refuses a batch of which it can process nothing. The SDK has tried that a few times already.
                Err(error) if error.is_throttled() => {}
                // What took so long is known.
                Err(Error::Timeout { .. }) if is_throttled => {
                    return Err(self.failed("BatchWriteItem", UNDONE));
                }
                Err(error) => return Err(error),
            }
            is_throttled = true;
            pause = self.pause("BatchWriteItem", pause, deadline).await?;
        }
    }

    /// Waits for about `pause`, and says how long to wait the next time.
    ///
    /// # Errors
    /// If there is no time to wait: what is left of a batch stays undone.
    async fn pause(
        &self,
        operation: &'static str,
        pause: Duration,
        deadline: Instant,
    ) -> Result<Duration, Error> {
        let pause = pause.mul_f64(fastrand::f64() + 0.5);
        if Instant::now() + pause >= deadline {
            return Err(self.failed(operation, UNDONE));
        }
        tokio::time::sleep(pause).await;
        Ok((pause * 2).min(LONGEST_PAUSE))
    }

    /// What `request` brings before the deadline. Boxed, because the SDK's futures take 30 kB each.
    pub(crate) fn in_time<'a, T, E, R>(
        &'a self,
        operation: &'static str,
        deadline: Instant,
        request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Error>>
    where
        E: StandardError + ProvideErrorMetadata + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
        T: Send,
    {
        let in_time = async move {
            match timeout_at(deadline, request).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(SdkError::TimeoutError(_))) | Err(_) => {
                    Err(Error::Timeout { table: self.name.clone(), operation })
                }
                Ok(Err(error)) => Err(Error::Failed {
                    table: self.name.clone(),
                    operation,
                    code: error.code().map(str::to_owned),
                    cause: cause(&error),
                }),
            }
        };
        in_time.boxed()
    }

    /// What a conditional `request` brings, or `None` where its condition does not hold.
    pub(crate) fn unless_refused<'a, T, E, R>(
        &'a self,
        operation: &'static str,
        deadline: Instant,
        request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
    ) -> BoxFuture<'a, Result<Option<T>, Error>>
    where
        E: StandardError + ProvideErrorMetadata + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
        T: Send,
    {
        let unless_refused = request.map(|result| match result {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.code() == Some("ConditionalCheckFailedException") => Ok(None),
            Err(error) => Err(error),
        });
        self.in_time(operation, deadline, unless_refused)
    }

    pub(crate) fn failed(&self, operation: &'static str, cause: impl Into<String>) -> Error {
        Error::Failed { table: self.name.clone(), operation, code: None, cause: cause.into() }
    }
}

/// What went wrong: in the words of the service if it said something, else all that the client knows.
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
