//! What requests consume, as `DynamoDB` bills it. Only answers to requests that asked for it are read.

use std::ops::AddAssign;

use dynoxide::types::ConsumedCapacity;
use serde::Deserialize;

const READS: [&str; 5] = ["BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"];
const WRITES: [&str; 5] = ["BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"];

/// Capacity units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumed {
    /// Read request units.
    pub read_units: f64,
    /// Write request units.
    pub write_units: f64,
}

impl AddAssign for Consumed {
    fn add_assign(&mut self, other: Self) {
        self.read_units += other.read_units;
        self.write_units += other.write_units;
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    #[serde(default)]
    consumed_capacity: Option<OneOrMany>,
}

/// Batches and transactions answer with a list, the rest with one.
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

/// Whether a request asks what it consumes.
pub(super) fn is_asked_for(request: &[u8]) -> bool {
    std::str::from_utf8(request).is_ok_and(|request| request.contains("\"ReturnConsumedCapacity\""))
}

/// What an answer says was consumed; nothing if it does not say.
pub(super) fn of_answer(operation: &str, answer: &[u8]) -> Consumed {
    let units: f64 = match serde_json::from_slice::<Answer>(answer) {
        Ok(Answer { consumed_capacity: Some(OneOrMany::One(one)) }) => one.capacity_units,
        Ok(Answer { consumed_capacity: Some(OneOrMany::Many(many)) }) => {
            many.iter().map(|one| one.capacity_units).sum()
        }
        Ok(Answer { consumed_capacity: None }) | Err(_) => 0.0,
    };
    Consumed {
        read_units: if READS.contains(&operation) { units } else { 0.0 },
        write_units: if WRITES.contains(&operation) { units } else { 0.0 },
    }
}

/// The same for writes whose answer has not become JSON yet.
pub(super) fn of_writes(consumed: &[ConsumedCapacity]) -> Consumed {
    Consumed { read_units: 0.0, write_units: consumed.iter().map(|one| one.capacity_units).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_read() {
        let one = br#"{"Count":3,"ConsumedCapacity":{"TableName":"T","CapacityUnits":1.5}}"#;
        assert_eq!(of_answer("Query", one), Consumed { read_units: 1.5, write_units: 0.0 });
        let many = br#"{"ConsumedCapacity":[{"TableName":"T","CapacityUnits":2.0},{"TableName":"U","CapacityUnits":1.0}]}"#;
        assert_eq!(of_answer("BatchWriteItem", many), Consumed { read_units: 0.0, write_units: 3.0 });
        for nothing in [&b"{}"[..], b"", br#"{"ConsumedCapacity":null}"#] {
            assert_eq!(of_answer("Query", nothing), Consumed::default());
        }
        assert_eq!(of_answer("ListTables", one), Consumed::default());
    }

    #[test]
    fn only_who_asks_is_told() {
        assert!(is_asked_for(br#"{"ReturnConsumedCapacity":"TOTAL"}"#));
        assert!(!is_asked_for(br#"{"TableName":"T"}"#));
    }
}
