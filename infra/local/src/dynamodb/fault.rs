//! Faults on demand, for tests of how functions handle them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Response, StatusCode};
use serde_json::Value;

use super::response::Refusal;

/// A fault that delays requests, or responds without carrying them out. It applies to all matching requests,
/// until [`Fault::times`] is reached or the fault is cleared.
///
/// ```
/// # use local::Fault;
/// Fault::hang().on("BatchWriteItem").after(3); // the fourth batch and all later ones get no response
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fault {
    pub(super) delay: Duration,
    pub(super) hang: bool,
    pub(super) close: bool,
    pub(super) refusal: Option<Refusal>,
    processed: Option<usize>,
    /// An empty list means all operations; with `processed`, all batch operations.
    operations: Vec<String>,
    after: u64,
    times: Option<u64>,
}

impl Fault {
    /// Responds with an error.
    #[must_use]
    pub fn refusal(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::default() }
    }

    /// Responds as if the table exceeded its throughput.
    #[must_use]
    pub fn throttled() -> Self {
        Self::refusal(Refusal::ProvisionedThroughputExceeded)
    }

    /// Responds as if the table did not exist.
    #[must_use]
    pub fn missing_table() -> Self {
        Self::refusal(Refusal::ResourceNotFound)
    }

    /// Processes the first `processed` items of each `BatchWriteItem` or `BatchGetItem`, and returns the
    /// other items as unprocessed. With 0, the request is throttled, as in `DynamoDB`.
    #[must_use]
    pub fn unprocessed_after(processed: usize) -> Self {
        Self { processed: Some(processed), ..Self::default() }
    }

    /// Waits before the request is carried out.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Accepts the request, does not carry it out, and never responds.
    #[must_use]
    pub fn hang() -> Self {
        Self { hang: true, ..Self::default() }
    }

    /// Closes the connection; the request is not carried out.
    #[must_use]
    pub fn close() -> Self {
        Self { close: true, ..Self::default() }
    }

    /// Limits the fault to this operation. Repeated calls add further operations.
    #[must_use]
    pub fn on(mut self, operation: impl Into<String>) -> Self {
        self.operations.push(operation.into());
        self
    }

    /// Skips the first `requests` matching requests.
    #[must_use]
    pub fn after(self, requests: u64) -> Self {
        Self { after: requests, ..self }
    }

    /// Limits the fault to this many requests.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Some(times), ..self }
    }

    fn applies_to(&self, operation: &str) -> bool {
        if self.operations.is_empty() {
            return self.processed.is_none() || name_of_unprocessed(operation).is_some();
        }
        self.operations.iter().any(|named| named == operation)
    }

    /// Splits the request, if it has more items than this fault lets through.
    pub(super) fn split(&self, operation: &str, request: &[u8]) -> Option<Split> {
        let mut left = self.processed?;
        let name = name_of_unprocessed(operation)?;
        let mut request: Value = serde_json::from_slice(request).ok()?;
        let tables = request.get_mut("RequestItems")?.as_object_mut()?;
        let mut rest = tables.clone();
        for (table, entry) in tables.iter_mut() {
            let list = items(entry)?;
            let count = list.len().min(left);
            left -= count;
            list.truncate(count);
            items(rest.get_mut(table)?)?.drain(..count);
        }
        for tables in [&mut *tables, &mut rest] {
            tables.retain(|_, entry| items(entry).is_some_and(|list| !list.is_empty()));
        }
        let has_any = !tables.is_empty();
        (!rest.is_empty()).then(|| Split {
            processed: has_any.then(|| Bytes::from(request.to_string())),
            unprocessed_field: name,
            rest: Value::Object(rest),
        })
    }
}

/// The field of a batch operation's response that holds unprocessed items.
fn name_of_unprocessed(operation: &str) -> Option<&'static str> {
    match operation {
        "BatchWriteItem" => Some("UnprocessedItems"),
        "BatchGetItem" => Some("UnprocessedKeys"),
        _ => None,
    }
}

/// The items in a table's entry of a batch. In `BatchGetItem`, they are the entry's `Keys`.
fn items(entry: &mut Value) -> Option<&mut Vec<Value>> {
    if entry.is_object() { entry.get_mut("Keys")?.as_array_mut() } else { entry.as_array_mut() }
}

/// A batch that is partly processed.
pub(super) struct Split {
    /// The request for the processed part; `None` if it is empty.
    pub(super) processed: Option<Bytes>,
    unprocessed_field: &'static str,
    rest: Value,
}

impl Split {
    /// Turns the response to the processed part into the response to the whole batch.
    pub(super) async fn complete(self, processed: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        let (parts, body) = processed.into_parts();
        let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
        match serde_json::from_slice(&body) {
            Ok(Value::Object(mut fields)) if parts.status == StatusCode::OK => {
                fields.insert(self.unprocessed_field.to_owned(), self.rest);
                dynamodb::json(StatusCode::OK, Value::Object(fields).to_string()).map(Full::new)
            }
            _ => Response::from_parts(parts, Full::new(body)),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    set: Mutex<Vec<Fault>>,
}

impl Faults {
    pub(super) fn add(&self, fault: Fault) {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    pub(super) fn clear(&self) {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the fault for a request, and counts the request.
    pub(super) fn next_for(&self, operation: &str) -> Option<Fault> {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in set.iter_mut().filter(|fault| fault.applies_to(operation)) {
            if fault.after > 0 {
                fault.after -= 1;
                continue;
            }
            match &mut fault.times {
                Some(0) => continue,
                Some(times) => *times -= 1,
                None => {}
            }
            return Some(fault.clone());
        }
        None
    }
}
