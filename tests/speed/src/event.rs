//! Events of API Gateway: the sample events in `events/`, with other parameters and times.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::release::workspace;

pub(crate) type Parameters = &'static [(&'static str, &'static str)];

/// The time of the sample events.
const FIRST_MS: u64 = 1_794_830_400_000;
/// The time between events that must each cause a fetch: longer than any TTL.
const STEP_MS: u64 = 4_000_000;

/// Events of the same request at different times.
#[derive(Debug)]
pub(crate) struct Events {
    event: Map<String, Value>,
    now_ms: u64,
}

impl Events {
    /// Reads the function's sample event, and sets these parameters.
    ///
    /// # Errors
    /// If there is no valid sample event.
    pub(crate) fn new(function: &str, query: Parameters, path: Parameters) -> Result<Self, String> {
        let file = workspace().join("events").join(function).with_extension("json");
        let text =
            std::fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let mut event: Map<_, _> = serde_json::from_slice(&text)
            .map_err(|error| format!("{} is not a JSON object: {error}", file.display()))?;
        let single = |values: Parameters| json!(values.iter().copied().collect::<HashMap<_, _>>());
        let multiple: HashMap<_, _> = query.iter().map(|(name, value)| (*name, [*value])).collect();
        event.insert("queryStringParameters".to_owned(), single(query));
        event.insert("multiValueQueryStringParameters".to_owned(), json!(multiple));
        event.insert("pathParameters".to_owned(), single(path));
        Ok(Self { event, now_ms: FIRST_MS })
    }

    /// The event at the time of the previous event. The function answers it from memory.
    pub(crate) fn again(&mut self) -> Bytes {
        let context = self.event.get_mut("requestContext").and_then(Value::as_object_mut);
        if let Some(context) = context {
            context.insert("requestTimeEpoch".to_owned(), self.now_ms.into());
        }
        Bytes::from(json!(self.event).to_string())
    }

    /// The event at a time when the data in the function's memory has expired.
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
