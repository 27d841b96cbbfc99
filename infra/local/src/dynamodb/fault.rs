//! Faults on demand: what `DynamoDB` does when it does not do what it should, for tests of what functions make of it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value};

/// What to do instead of, or before, what a request asks for. Parts can be combined; the default does nothing.
///
/// ```
/// # use local::Fault;
/// Fault::hang().on("BatchWriteItem").after(3); // the fourth batch is never answered, nor any after it
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Wait this long first.
    pub delay: Duration,
    /// Accept the request and never answer.
    pub hang: bool,
    /// Close the connection without an answer.
    pub close: bool,
    /// Answer with this error.
    pub refusal: Option<Refusal>,
    /// Of each `BatchWriteItem` and `BatchGetItem`, process only so many, the first in the request, and return the rest
    /// as `UnprocessedItems` or `UnprocessedKeys`. With 0 the request is refused as throttled, as `DynamoDB` does it.
    pub processed: Option<usize>,
    /// The operations that it happens to; none for all of them.
    pub operations: Vec<String>,
    /// Let so many of these requests pass first.
    pub after: u64,
    /// Only for the next so many; without it, until cleared.
    pub times: Option<u64>,
}

/// An error that `DynamoDB` answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A table or a partition is beyond its throughput.
    ProvisionedThroughputExceeded,
    /// Requests come too fast, as tables on demand say it.
    Throttling,
    /// There is no such table.
    ResourceNotFound,
    /// Status 500.
    InternalServerError,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::InternalServerError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::ProvisionedThroughputExceeded | Self::Throttling | Self::ResourceNotFound => {
                StatusCode::BAD_REQUEST
            }
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ProvisionedThroughputExceeded => "ProvisionedThroughputExceededException",
            Self::Throttling => "ThrottlingException",
            Self::ResourceNotFound => "ResourceNotFoundException",
            Self::InternalServerError => "InternalServerError",
        }
    }

    pub(super) fn qualified_name(self) -> String {
        let namespace = match self {
            Self::Throttling => "com.amazon.coral.availability",
            Self::ProvisionedThroughputExceeded | Self::ResourceNotFound | Self::InternalServerError => {
                "com.amazonaws.dynamodb.v20120810"
            }
        };
        format!("{namespace}#{}", self.name())
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::ProvisionedThroughputExceeded => {
                "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
                 provisioning level with the UpdateTable API."
            }
            Self::Throttling => "Throughput exceeds the current throughput limit for your table or index.",
            Self::ResourceNotFound => "Requested resource not found",
            Self::InternalServerError => "Internal server error",
        }
    }
}

impl Fault {
    /// Answers with an error.
    #[must_use]
    pub fn refusal(refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..Self::default() }
    }

    /// Answers as a table that is beyond its throughput.
    #[must_use]
    pub fn throttled() -> Self {
        Self::refusal(Refusal::ProvisionedThroughputExceeded)
    }

    /// Answers as if there were no such table.
    #[must_use]
    pub fn missing_table() -> Self {
        Self::refusal(Refusal::ResourceNotFound)
    }

    /// Of each batch, processes the first `processed` and returns the rest as unprocessed.
    #[must_use]
    pub fn unprocessed_after(processed: usize) -> Self {
        Self { processed: Some(processed), ..Self::default() }
    }

    /// Waits for `delay` before anything else.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Accepts the request and never answers.
    #[must_use]
    pub fn hang() -> Self {
        Self { hang: true, ..Self::default() }
    }

    /// Closes the connection without an answer.
    #[must_use]
    pub fn close() -> Self {
        Self { close: true, ..Self::default() }
    }

    /// The same fault for this operation, and others that were named this way, only.
    #[must_use]
    pub fn on(mut self, operation: impl Into<String>) -> Self {
        self.operations.push(operation.into());
        self
    }

    /// The same fault, but the next `requests` requests pass.
    #[must_use]
    pub fn after(self, requests: u64) -> Self {
        Self { after: requests, ..self }
    }

    /// The same fault for `times` requests only.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Some(times), ..self }
    }

    fn is_for(&self, operation: &str) -> bool {
        if self.operations.is_empty() {
            return self.processed.is_none() || Batch::of(operation).is_some();
        }
        self.operations.iter().any(|named| named == operation)
    }

    /// The request in two, if there is more in it than is to be processed.
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

/// How an operation on many items spells them.
struct Batch {
    /// What its answer calls those that were not processed.
    unprocessed: &'static str,
    /// Where a table's entry has its list, if it is not the list itself.
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

/// A batch of which only a part is processed.
pub(super) struct Split {
    /// The request for that part; `None` if it is empty.
    pub(super) processed: Option<Bytes>,
    name: &'static str,
    rest: Value,
}

impl Split {
    /// The answer to the part as the answer to the whole.
    pub(super) async fn complete(self, answer: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        let (parts, body) = answer.into_parts();
        let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
        match serde_json::from_slice(&body) {
            Ok(Value::Object(mut answer)) if parts.status == StatusCode::OK => {
                answer.insert(self.name.to_owned(), self.rest);
                super::response(StatusCode::OK, Bytes::from(Value::Object(answer).to_string()))
            }
            _ => Response::from_parts(parts, Full::new(body)),
        }
    }
}

/// The faults that are set.
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

    /// What happens to a request for `operation` that has come.
    pub(super) fn take(&self, operation: &str) -> Option<Fault> {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in set.iter_mut().filter(|fault| fault.is_for(operation)) {
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
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_happens_to_its_operations_after_and_for_so_many_requests() {
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
    fn the_first_that_is_due_happens() {
        let faults = Faults::default();
        faults.set(Fault::close().times(1));
        faults.set(Fault::hang().after(1));
        let happens = || faults.take("Query").map(|fault| (fault.close, fault.hang));
        assert_eq!([happens(), happens(), happens()], [Some((true, false)), None, Some((false, true))]);
    }

    #[test]
    fn unprocessed_items_are_for_batches_only() {
        let faults = Faults::default();
        faults.set(Fault::unprocessed_after(1));
        assert!(faults.take("Query").is_none() && faults.take("BatchGetItem").is_some());
    }

    #[test]
    fn a_batch_is_split_where_it_is_said() {
        let put = |id: &str| json!({"PutRequest": {"Item": {"pk": {"S": id}}}});
        let request = json!({
            "RequestItems": {"A": [put("1"), put("2")], "B": [put("3")]},
            "ReturnConsumedCapacity": "TOTAL",
        });
        let split = |processed| {
            Fault::unprocessed_after(processed).split("BatchWriteItem", request.to_string().as_bytes()).map(
                |split| (split.processed.map(|bytes| serde_json::from_slice(&bytes).unwrap()), split.rest),
            )
        };
        let first = json!({"RequestItems": {"A": [put("1")]}, "ReturnConsumedCapacity": "TOTAL"});
        assert_eq!(split(1), Some((Some(first), json!({"A": [put("2")], "B": [put("3")]}))));
        assert_eq!(split(0), Some((None::<Value>, request["RequestItems"].clone())));
        assert_eq!(split(3), None);
        let keys = json!({"RequestItems": {"A": {"Keys": [1, 2], "ConsistentRead": true}}});
        let split = Fault::unprocessed_after(1).split("BatchGetItem", keys.to_string().as_bytes()).unwrap();
        assert_eq!(split.rest, json!({"A": {"Keys": [2], "ConsistentRead": true}}));
    }
}
