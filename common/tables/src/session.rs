//! A session: a table and a time limit for its operations. The time that the operations take is added to the
//! waiting time of the invocation, like the time of upstream requests.

use std::collections::HashMap;
use std::error::Error as StandardError;
use std::time::Duration;

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::builders::UpdateItemFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConsumedCapacity, Delete, DeleteRequest, KeysAndAttributes, Put, PutRequest,
    ReturnConsumedCapacity, TransactWriteItem, WriteRequest,
};
use common::error::chain;
use common::invocation::Invocation;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use tokio::time::Instant;

use crate::error::Error;
use crate::item::{Attributes, string};
use crate::operation::{FIRST_PAUSE, Operation};
use crate::raw_query;
use crate::row::Row;
use crate::table::Table;

/// DynamoDB's name for a batch of writes.
const BATCH_WRITE: &str = "BatchWriteItem";
/// DynamoDB's limit for the number of rows in a batch of writes.
const WRITE_BATCH: usize = 25;
/// DynamoDB's limit for the number of rows in a transaction.
pub(crate) const TRANSACTION: u32 = 100;
/// DynamoDB's limit for the number of rows in a batch of reads.
const READ_BATCH: usize = 100;
/// The number of concurrent batches: enough to hide the network latency, few enough for a small function.
const CONCURRENT_BATCHES: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Reads return the latest versions.
    Consistent,
    /// Reads can miss writes of about the last second, but take half the read units.
    Eventual,
}

/// A table during one invocation, or for the commands of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    table: &'a Table,
    time: TimeLimit,
    /// The invocation whose waiting time is measured; `None` for a tool.
    invocation: Option<&'a Invocation>,
}

#[derive(Debug, Clone, Copy)]
enum TimeLimit {
    /// All operations together end at this time.
    Deadline(Instant),
    /// Each operation may take this long.
    Timeout(Duration),
}

/// The condition of a write.
#[derive(Debug, Default)]
pub(crate) struct Condition {
    expression: Option<String>,
    values: Option<Attributes>,
}

impl Condition {
    pub(crate) fn new(expression: &str) -> Self {
        Self { expression: Some(expression.to_owned()), values: None }
    }

    /// Adds the value for the placeholder of the expression.
    pub(crate) fn with(mut self, placeholder: &str, value: AttributeValue) -> Self {
        self.values.get_or_insert_default().insert(placeholder.to_owned(), value);
        self
    }
}

#[derive(Debug)]
pub(crate) enum Write {
    Put(Attributes),
    /// Deletes the row with this key.
    Delete(Attributes),
}

impl Table {
    /// Returns a session for a request: its operations end at the upstream deadline of the invocation.
    #[must_use]
    pub const fn during<'a>(&'a self, invocation: &'a Invocation) -> Session<'a> {
        let time = TimeLimit::Deadline(invocation.upstream_deadline());
        Session { table: self, time, invocation: Some(invocation) }
    }

    /// Returns a session for a recorder, whose operations may take the whole time of the invocation.
    #[must_use]
    pub const fn during_recording<'a>(&'a self, invocation: &'a Invocation) -> Session<'a> {
        let time = TimeLimit::Deadline(invocation.deadline());
        Session { table: self, time, invocation: Some(invocation) }
    }

    /// Returns a session for a tool: each operation may take as long as `timeout`.
    #[must_use]
    pub const fn with_timeout(&self, timeout: Duration) -> Session<'_> {
        Session { table: self, time: TimeLimit::Timeout(timeout), invocation: None }
    }
}

impl<'a> Session<'a> {
    /// Returns an operation with this name. A timeout starts now.
    pub(crate) fn operation(self, name: &'static str) -> Operation<'a> {
        let deadline = match self.time {
            TimeLimit::Deadline(deadline) => deadline,
            TimeLimit::Timeout(timeout) => Instant::now() + timeout,
        };
        Operation { table: self.table, name, deadline }
    }

    /// Awaits `future`, and adds the time to the invocation's waiting time.
    async fn wait<T>(self, future: impl Future<Output = T>) -> T {
        match self.invocation {
            Some(invocation) => invocation.waiting_for(future).await,
            None => future.await,
        }
    }

    pub(crate) fn table_name(self) -> &'a str {
        self.table.name()
    }

    /// Returns a query that reports its read units, for the tests of capacity.
    pub(crate) fn query(self) -> QueryFluentBuilder {
        let query = self.table.client().query().table_name(self.table.name());
        query.return_consumed_capacity(ReturnConsumedCapacity::Total)
    }

    pub(crate) fn query_all(self, partition: &str) -> QueryFluentBuilder {
        let query = self.query().key_condition_expression("pk = :partition");
        query.expression_attribute_values(":partition", string(partition))
    }

    /// Returns a query of the rows of a partition whose sort keys are between two keys, inclusive.
    pub(crate) fn query_between(
        self,
        partition: &str,
        first: impl Into<String>,
        last: impl Into<String>,
    ) -> QueryFluentBuilder {
        self.query()
            .key_condition_expression("pk = :partition AND sk BETWEEN :first AND :last")
            .expression_attribute_values(":partition", string(partition))
            .expression_attribute_values(":first", string(first))
            .expression_attribute_values(":last", string(last))
    }

    #[must_use]
    pub fn put_item(self) -> PutItemFluentBuilder {
        self.table.client().put_item().table_name(self.table.name())
    }

    pub(crate) fn update_item(self) -> UpdateItemFluentBuilder {
        self.table.client().update_item().table_name(self.table.name())
    }

    #[cfg(test)]
    pub(crate) fn delete_item(
        self,
    ) -> aws_sdk_dynamodb::operation::delete_item::builders::DeleteItemFluentBuilder {
        self.table.client().delete_item().table_name(self.table.name())
    }

    /// Returns the latest version of the row with this key.
    pub async fn get(self, key: Attributes) -> Result<Option<Attributes>, Error> {
        let request = self.table.client().get_item().table_name(self.table.name());
        let request = request.set_key(Some(key)).consistent_read(true).send();
        Ok(self.wait(self.operation("GetItem").send(request)).await?.item)
    }

    /// Sends the conditional write `request`; returns `None` if its condition does not hold.
    pub async fn write<T, E, R>(
        self,
        operation: &'static str,
        request: impl Future<Output = Result<T, SdkError<E, R>>> + Send + 'a,
    ) -> Result<Option<T>, Error>
    where
        E: StandardError + ProvideErrorMetadata + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
        T: Send,
    {
        let fails = |error: &SdkError<E, R>| error.code() == Some("ConditionalCheckFailedException");
        self.wait(self.operation(operation).send_conditional(request, fails)).await
    }

    /// Returns at most `limit` rows of `query`, in its order. This takes one request, unless the rows exceed
    /// DynamoDB's limit of 1 MB per page.
    pub(crate) async fn rows(
        self,
        query: QueryFluentBuilder,
        limit: usize,
    ) -> Result<Vec<Attributes>, Error> {
        self.wait(read_rows(self.operation("Query"), query, limit)).await
    }

    /// Reads at most `limit` rows of a query of one product with `read`, and returns the results in order.
    /// Rows for which `read` returns `None` are left out.
    pub(crate) async fn read_rows<T>(
        self,
        query: QueryFluentBuilder,
        limit: usize,
        read: impl FnMut(&Row<'_>) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.wait(raw_query::read_rows(self.operation("Query"), query, limit, read)).await
    }

    /// Runs [`Session::read_rows`] for each query and its limit, and returns the results in the order of the
    /// queries. `read` also receives the position of the query.
    pub(crate) async fn read_rows_of_each<T>(
        self,
        queries: Vec<(QueryFluentBuilder, usize)>,
        read: impl Fn(usize, &Row<'_>) -> Option<T>,
    ) -> Result<Vec<Vec<T>>, Error> {
        let (operation, read) = (self.operation("Query"), &read);
        let rows = stream::iter(queries.into_iter().enumerate()).map(|(position, (query, limit))| {
            raw_query::read_rows(operation, query, limit, move |row: &Row<'_>| read(position, row))
        });
        self.wait(rows.buffered(CONCURRENT_BATCHES).try_collect()).await
    }

    /// Runs [`Session::rows`] for each query and its limit, and returns the results in the order of the
    /// queries.
    pub(crate) async fn rows_of_each(
        self,
        queries: Vec<(QueryFluentBuilder, usize)>,
    ) -> Result<Vec<Vec<Attributes>>, Error> {
        let operation = self.operation("Query");
        let rows = stream::iter(queries).map(|(query, limit)| read_rows(operation, query, limit));
        self.wait(rows.buffered(CONCURRENT_BATCHES).try_collect()).await
    }

    /// Returns all rows of `query`, in its order, page by page. Each page is an operation.
    pub(crate) fn pages(
        self,
        query: QueryFluentBuilder,
    ) -> impl Stream<Item = Result<Vec<Attributes>, Error>> + use<'a> {
        stream::try_unfold(Some(query), move |query: Option<QueryFluentBuilder>| async move {
            let Some(query) = query else { return Ok(None) };
            let page = self.wait(self.operation("Query").send(query.clone().send())).await?;
            let next = page.last_evaluated_key.map(|last| query.set_exclusive_start_key(Some(last)));
            Ok(Some((page.items.unwrap_or_default(), next)))
        })
    }

    /// Returns at most `limit` rows of the table after the key `after`, in no particular order, and the key
    /// of the last of these rows; `None` as the key at the end of the table. The read is consistent.
    pub(crate) async fn scan_page(
        self,
        after: Option<Attributes>,
        limit: i32,
    ) -> Result<(Vec<Attributes>, Option<Attributes>), Error> {
        let scan = self.table.client().scan().table_name(self.table.name()).consistent_read(true);
        let scan = scan.set_exclusive_start_key(after).limit(limit);
        let page = self.wait(self.operation("Scan").send(scan.send())).await?;
        Ok((page.items.unwrap_or_default(), page.last_evaluated_key))
    }

    /// Returns the existing rows with these keys, in no particular order.
    pub async fn get_all(self, keys: Vec<Attributes>, reads: Reads) -> Result<Vec<Attributes>, Error> {
        let operation = self.operation("BatchGetItem");
        let batches = keys.chunks(READ_BATCH).map(<[Attributes]>::to_vec).collect::<Vec<_>>();
        let batches = stream::iter(batches).map(|keys| read_batch(operation, keys, reads));
        let batches = batches.buffer_unordered(CONCURRENT_BATCHES).try_collect::<Vec<_>>();
        Ok(self.wait(batches).await?.into_iter().flatten().collect())
    }

    pub(crate) fn put_request(self, row: Attributes) -> Result<WriteRequest, Error> {
        let put = PutRequest::builder().set_item(Some(row)).build();
        let put = put.map_err(|error| self.operation(BATCH_WRITE).failed(error.to_string()))?;
        Ok(WriteRequest::builder().put_request(put).build())
    }

    /// Deletes the rows with these keys, in no particular order.
    pub(crate) async fn delete_all(self, keys: impl Iterator<Item = Attributes>) -> Result<(), Error> {
        let delete = |key| {
            let delete = DeleteRequest::builder().set_key(Some(key)).build();
            let delete = delete.map_err(|error| self.operation(BATCH_WRITE).failed(error.to_string()))?;
            Ok(WriteRequest::builder().delete_request(delete).build())
        };
        self.write_all(keys.map(delete).collect::<Result<_, _>>()?).await.map(drop)
    }

    /// Puts all rows in one transaction, as [`Session::write_at_once`].
    pub(crate) async fn put_at_once(
        self,
        rows: Vec<(Attributes, Option<Condition>)>,
    ) -> Result<Option<f64>, Error> {
        let puts = rows.into_iter().map(|(row, condition)| (Write::Put(row), condition));
        self.write_at_once(puts.collect()).await
    }

    /// Makes all writes in one transaction, and returns the write units: twice as many as for a batch. If the
    /// condition of a row does not hold, writes nothing and returns `None`. A request that the SDK repeats
    /// after a lost response has the same token, so DynamoDB does not refuse it because of the first one.
    pub(crate) async fn write_at_once(
        self,
        writes: Vec<(Write, Option<Condition>)>,
    ) -> Result<Option<f64>, Error> {
        let operation = self.operation("TransactWriteItems");
        let item = |(write, condition): (Write, Option<Condition>)| {
            let Condition { expression, values } = condition.unwrap_or_default();
            let item = TransactWriteItem::builder();
            Ok(match write {
                Write::Put(row) => {
                    let put = Put::builder().table_name(self.table_name()).set_item(Some(row));
                    let put = put.set_condition_expression(expression);
                    item.put(put.set_expression_attribute_values(values).build()?).build()
                }
                Write::Delete(key) => {
                    let delete = Delete::builder().table_name(self.table_name()).set_key(Some(key));
                    let delete = delete.set_condition_expression(expression);
                    item.delete(delete.set_expression_attribute_values(values).build()?).build()
                }
            })
        };
        let items = writes.into_iter().map(item);
        let items: Result<Vec<_>, BuildError> = items.collect();
        let items = items.map_err(|error| operation.failed(error.to_string()))?;
        let mut pause = FIRST_PAUSE;
        loop {
            let request = self.table.client().transact_write_items().set_transact_items(Some(items.clone()));
            let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send();
            match self.wait(operation.send_conditional(request, is_refused)).await {
                // Another run is writing one of the rows.
                Err(error) if error.code() == Some("TransactionCanceledException") => {
                    pause = operation.pause(pause).await?;
                }
                written => return Ok(written?.map(|written| consumed(written.consumed_capacity()))),
            }
        }
    }

    /// Sends all requests, in no particular order, and returns the write units that they took. Unprocessed
    /// requests are sent again until the deadline.
    pub(crate) async fn write_all(self, mut requests: Vec<WriteRequest>) -> Result<f64, Error> {
        let operation = self.operation(BATCH_WRITE);
        let mut batches = Vec::new();
        while !requests.is_empty() {
            batches.push(requests.split_off(requests.len().saturating_sub(WRITE_BATCH)));
        }
        let units = stream::iter(batches)
            .map(|batch| write_batch(operation, batch))
            .buffer_unordered(CONCURRENT_BATCHES)
            .try_fold(0.0, async |sum, units| Ok(sum + units));
        self.wait(units).await
    }
}

/// Returns the units in a response to several writes.
fn consumed(capacity: &[ConsumedCapacity]) -> f64 {
    capacity.iter().filter_map(|consumed| consumed.capacity_units).sum()
}

/// Whether the condition of a row does not hold.
fn is_refused<R>(error: &SdkError<TransactWriteItemsError, R>) -> bool {
    let reasons = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
            canceled.cancellation_reasons()
        }
        _ => &[],
    };
    reasons.iter().any(|reason| reason.code() == Some("ConditionalCheckFailed"))
}

async fn read_rows(
    operation: Operation<'_>,
    query: QueryFluentBuilder,
    limit: usize,
) -> Result<Vec<Attributes>, Error> {
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let left = i32::try_from(limit - rows.len()).unwrap_or(i32::MAX);
        let page = query.clone().limit(left).set_exclusive_start_key(after).send();
        let page = operation.send(page).await?;
        rows.extend(page.items.unwrap_or_default());
        after = page.last_evaluated_key;
        if after.is_none() || rows.len() >= limit {
            return Ok(rows);
        }
    }
}

async fn read_batch(
    operation: Operation<'_>,
    keys: Vec<Attributes>,
    reads: Reads,
) -> Result<Vec<Attributes>, Error> {
    let is_consistent = reads == Reads::Consistent;
    let keys = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(is_consistent).build();
    let keys = keys.map_err(|error| operation.failed(chain(&error)))?;
    let mut left = HashMap::from([(operation.table.name().to_owned(), keys)]);
    let mut rows = Vec::new();
    let mut pause = FIRST_PAUSE;
    loop {
        let request = operation.table.client().batch_get_item().set_request_items(Some(left));
        let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total);
        let response = operation.send(request.send()).await?;
        rows.extend(response.responses.into_iter().flatten().flat_map(|(_, rows)| rows));
        match response.unprocessed_keys.filter(|unprocessed| !unprocessed.is_empty()) {
            None => return Ok(rows),
            Some(unprocessed) => left = unprocessed,
        }
        pause = operation.pause(pause).await?;
    }
}

async fn write_batch(operation: Operation<'_>, batch: Vec<WriteRequest>) -> Result<f64, Error> {
    let mut units = 0.0;
    let mut pause = FIRST_PAUSE;
    let mut is_throttled = false;
    let mut left = HashMap::from([(operation.table.name().to_owned(), batch)]);
    loop {
        let request = operation.table.client().batch_write_item().set_request_items(Some(left.clone()));
        let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send();
        match operation.send(request).await {
            Ok(response) => {
                units += consumed(response.consumed_capacity());
                match response.unprocessed_items.filter(|unprocessed| !unprocessed.is_empty()) {
                    None => return Ok(units),
                    Some(unprocessed) => left = unprocessed,
                }
            }
            // If throttling stops every request of a batch, DynamoDB returns an error, and the SDK has
            // already retried the batch.
            Err(error) if error.is_throttled() => {}
            // The batch timed out because it was throttled before.
            Err(Error::Timeout { .. }) if is_throttled => return Err(operation.incomplete()),
            Err(error) => return Err(error),
        }
        is_throttled = true;
        pause = operation.pause(pause).await?;
    }
}

/// Adds the condition that these attributes of the stored row still have the values that they have in
/// `before`.
#[must_use]
pub fn if_unchanged(
    request: PutItemFluentBuilder,
    before: Option<&Attributes>,
    attributes: &[&str],
) -> PutItemFluentBuilder {
    let mut request = request;
    let mut conditions = Vec::new();
    for &attribute in attributes {
        match before.and_then(|before| before.get(attribute)) {
            Some(value) => {
                conditions.push(format!("{attribute} = :{attribute}"));
                request = request.expression_attribute_values(format!(":{attribute}"), value.clone());
            }
            None => conditions.push(format!("attribute_not_exists({attribute})")),
        }
    }
    request.condition_expression(conditions.join(" AND "))
}
