//! Events of API Gateway: the samples in `events/`, with other parameters and times.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::workspace;

/// The step from one event to the next that makes each request fetch anew: longer than any TTL.
const STEP_MS: u64 = 4_000_000;

/// The events of one question.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    event: Value,
    now_ms: u64,
}

impl Events {
    /// The sample of the function.
    ///
    /// # Errors
    /// A sentence, when there is no sample.
    pub(crate) fn sample(function: &str) -> Result<Self, String> {
        let file = workspace().join("events").join(function).with_extension("json");
        let text =
            std::fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let event: Value = serde_json::from_slice(&text)
            .map_err(|error| format!("{} is not JSON: {error}", file.display()))?;
        let now_ms = event.pointer("/requestContext/requestTimeEpoch").and_then(Value::as_u64);
        let now_ms = now_ms.ok_or_else(|| format!("{} has no requestTimeEpoch", file.display()))?;
        Ok(Self { event, now_ms })
    }

    /// The sample with these parameters.
    ///
    /// # Errors
    /// A sentence, when there is no sample.
    pub(crate) fn new(function: &str, query: &[(&str, &str)], path: &[(&str, &str)]) -> Result<Self, String> {
        let mut events = Self::sample(function)?;
        let object = |values: &[(&str, &str)], wrap: fn(&str) -> Value| {
            let values: Map<_, _> =
                values.iter().map(|(name, value)| ((*name).to_owned(), wrap(value))).collect();
            if values.is_empty() { Value::Null } else { Value::Object(values) }
        };
        events.set("queryStringParameters", object(query, |value| json!(value)));
        events.set("multiValueQueryStringParameters", object(query, |value| json!([value])));
        events.set("pathParameters", object(path, |value| json!(value)));
        Ok(events)
    }

    fn set(&mut self, field: &str, value: Value) {
        if let Some(fields) = self.event.as_object_mut() {
            fields.insert(field.to_owned(), value);
        }
    }

    /// The same at the present time.
    pub(crate) fn at_present(self) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { now_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX), ..self }
    }

    /// The event at the time of the last one: after the first, the function responds from its memory.
    pub(crate) fn again(&mut self) -> Bytes {
        if let Some(time) = self.event.pointer_mut("/requestContext/requestTimeEpoch") {
            *time = self.now_ms.into();
        }
        Bytes::from(self.event.to_string())
    }

    /// The event at a time when nothing in the function's memory is valid any more.
    pub(crate) fn later(&mut self) -> Bytes {
        self.now_ms += STEP_MS;
        self.again()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_parameters_and_moves_on_request() {
        let mut events = Events::new("bazaar", &[("mode", "list")], &[]).unwrap();
        let event = |bytes: Bytes| serde_json::from_slice::<Value>(&bytes).unwrap();
        let first = event(events.again());
        assert_eq!(first["queryStringParameters"], json!({"mode": "list"}));
        assert_eq!(first["multiValueQueryStringParameters"], json!({"mode": ["list"]}));
        assert_eq!(event(events.again()), first);
        let time = |event: &Value| event["requestContext"]["requestTimeEpoch"].as_u64().unwrap();
        assert_eq!(time(&event(events.later())), time(&first) + STEP_MS);
    }
}
