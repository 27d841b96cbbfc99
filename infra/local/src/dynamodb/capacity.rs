//! The capacity that requests consume, as `DynamoDB` bills it. Only requests with `ReturnConsumedCapacity`
//! report it.

use serde::Deserialize;

const WRITES: [&str; 5] = ["BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"];

/// Capacity units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumed {
    pub read_units: f64,
    pub write_units: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WithCapacity {
    #[serde(default)]
    consumed_capacity: Option<OneOrMany>,
}

/// Batches and transactions return a list, other operations one entry.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    Many(Vec<Units>),
    One(Units),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Units {
    #[serde(default)]
    capacity_units: f64,
}

/// Whether a request asks for its consumed capacity.
pub(super) fn is_requested(request: &[u8]) -> bool {
    std::str::from_utf8(request).is_ok_and(|request| request.contains("\"ReturnConsumedCapacity\""))
}

/// The consumed capacity in a response; zero if the response does not report it.
pub(super) fn of_response(operation: &str, response: &[u8]) -> Consumed {
    let units: f64 = match serde_json::from_slice::<WithCapacity>(response) {
        Ok(WithCapacity { consumed_capacity: Some(OneOrMany::One(one)) }) => one.capacity_units,
        Ok(WithCapacity { consumed_capacity: Some(OneOrMany::Many(many)) }) => {
            many.iter().map(|one| one.capacity_units).sum()
        }
        Ok(WithCapacity { consumed_capacity: None }) | Err(_) => 0.0,
    };
    let is_write = WRITES.contains(&operation);
    let (read_units, write_units) = if is_write { (0.0, units) } else { (units, 0.0) };
    Consumed { read_units, write_units }
}
