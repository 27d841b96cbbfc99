//! Faults on demand, for tests of how functions handle them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::response;

/// A fault that replaces or delays the response to a request. Parts can be combined; the default does nothing.
///
/// ```
/// # use local::Fault;
/// Fault::hang().on("BatchWriteItem").after(3); // there is no response to the fourth batch and all later ones
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The delay before anything else.
    pub delay: Duration,
    /// Accept the request and never respond.
    pub hang: bool,
    /// Close the connection without a response.
    pub close: bool,
    /// Respond with this error.
    pub refusal: Option<Refusal>,
    /// Process only this many items of a `BatchWriteItem` or `BatchGetItem`, the first ones, and return the others as
    /// unprocessed. With 0, the request is throttled, as in `DynamoDB`.
    pub processed: Option<usize>,
    /// The operations that it applies to. An empty list stands for all.
    pub operations: Vec<String>,
    /// The number of matching requests that succeed first.
    pub after: u64,
    /// The number of requests that it applies to; without it, all until it is cleared.
    pub times: Option<u64>,
}

impl Fault {
    /// Responds with an error.
    #[must_use]
    pub fn refusal(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::default() }
    }

    /// Responds as a table that exceeds its throughput.
    #[must_use]
    pub fn throttled() -> Self {
        Self::refusal(Refusal::ProvisionedThroughputExceeded)
    }

    /// Responds as if the table did not exist.
    #[must_use]
    pub fn missing_table() -> Self {
        Self::refusal(Refusal::ResourceNotFound)
    }

    /// Processes the first `processed` items of each batch, and returns the others as unprocessed.
    #[must_use]
    pub fn unprocessed_after(processed: usize) -> Self {
        Self { processed: Some(processed), ..Self::default() }
    }

    /// Delays the response.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Accepts the request and never responds.
    #[must_use]
    pub fn hang() -> Self {
        Self { hang: true, ..Self::default() }
    }

    /// Closes the connection without a response.
    #[must_use]
    pub fn close() -> Self {
        Self { close: true, ..Self::default() }
    }

    /// Limits the fault to this operation, and to others added this way.
    #[must_use]
    pub fn on(mut self, operation: impl Into<String>) -> Self {
        self.operations.push(operation.into());
        self
    }

    /// Lets the next `requests` matching requests succeed first.
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
            return self.processed.is_none() || Batch::of(operation).is_some();
        }
        self.operations.iter().any(|named| named == operation)
    }

    /// Splits the request, if it has more items than are to be processed.
    pub(super) fn split(&self, operation: &str, request: &[u8]) -> Option<Split> {
        let processed = self.processed?;
        let batch = Batch::of(operation)?;
        let mut request: Value = serde_json::from_slice(request).ok()?;
        let tables = request.get_mut("RequestItems")?.as_object_mut()?;
        let mut left = processed;
        let mut rest = Map::new();
        for (table, entry) in tables.iter_mut() {
            let mut unprocessed = entry.clone();
            let list = batch.list(entry)?;
            let count = list.len().min(left);
            left -= count;
            list.truncate(count);
            let list = batch.list(&mut unprocessed)?;
            list.drain(..count);
            if !list.is_empty() {
                rest.insert(table.clone(), unprocessed);
            }
        }
        tables.retain(|_, entry| batch.list(entry).is_some_and(|list| !list.is_empty()));
        let has_any = !tables.is_empty();
        (!rest.is_empty()).then(|| Split {
            processed: has_any.then(|| Bytes::from(request.to_string())),
            name: batch.unprocessed,
            rest: Value::Object(rest),
        })
    }
}

/// The names of items in the requests and responses of a batch operation.
struct Batch {
    /// The name of unprocessed items in the response.
    unprocessed: &'static str,
    /// The name of the list in a table's entry, if the entry is not the list itself.
    within: Option<&'static str>,
}

impl Batch {
    fn of(operation: &str) -> Option<Self> {
        match operation {
            "BatchWriteItem" => Some(Self { unprocessed: "UnprocessedItems", within: None }),
            "BatchGetItem" => Some(Self { unprocessed: "UnprocessedKeys", within: Some("Keys") }),
            _ => None,
        }
    }

    fn list<'entry>(&self, entry: &'entry mut Value) -> Option<&'entry mut Vec<Value>> {
        match self.within {
            Some(name) => entry.get_mut(name)?.as_array_mut(),
            None => entry.as_array_mut(),
        }
    }
}

/// A batch that is processed in part.
pub(super) struct Split {
    /// The request for the processed part; `None` if it is empty.
    pub(super) processed: Option<Bytes>,
    name: &'static str,
    rest: Value,
}

impl Split {
    /// Turns the response to the processed part into the response to the processed batch.
    pub(super) async fn complete(self, processed: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        let (parts, body) = processed.into_parts();
        let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
        match serde_json::from_slice(&body) {
            Ok(Value::Object(mut fields)) if parts.status == StatusCode::OK => {
                fields.insert(self.name.to_owned(), self.rest);
                response::json(StatusCode::OK, Bytes::from(Value::Object(fields).to_string()))
            }
            _ => Response::from_parts(parts, Full::new(body)),
        }
    }
}

/// The active faults.
#[derive(Debug, Default)]
pub(super) struct Faults {
    set: Mutex<Vec<Fault>>,
}

impl Faults {
    pub(super) fn set(&self, fault: Fault) {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    pub(super) fn clear(&self) {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The fault for a request, which is counted.
    pub(super) fn take(&self, operation: &str) -> Option<Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_applies_to_its_operations_after_some_and_for_some_requests() {
        let faults = Faults::default();
        faults.set(Fault::throttled().on("Query").on("GetItem").after(1).times(2));
        let seen =
            ["Query", "Scan", "GetItem", "Query", "Query"].map(|operation| faults.take(operation).is_some());
        assert_eq!(seen, [false, false, true, true, false]);
        faults.set(Fault::hang());
        assert!(faults.take("Scan").is_some_and(|fault| fault.hang));
        faults.clear();
        assert_eq!(faults.take("Scan"), None);
    }

    #[test]
    fn the_first_matching_fault_applies() {
        let faults = Faults::default();
        faults.set(Fault::close().times(1));
        faults.set(Fault::hang().after(1));
        let happens = || faults.take("Query").map(|fault| (fault.close, fault.hang));
        assert_eq!([happens(), happens(), happens()], [Some((true, false)), None, Some((false, true))]);
    }

    #[test]
    fn unprocessed_items_apply_to_batches_only() {
        let faults = Faults::default();
        faults.set(Fault::unprocessed_after(1));
        assert!(faults.take("Query").is_none() && faults.take("BatchGetItem").is_some());
    }
}
