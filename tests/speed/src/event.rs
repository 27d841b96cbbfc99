//! Events of API Gateway: the samples in `events/`, with other parameters and times.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::workspace;

/// The names and values of parameters.
pub(crate) type Parameters = &'static [(&'static str, &'static str)];

/// The time of the samples.
const FIRST_MS: u64 = 1_794_830_400_000;
/// The step from one event to the next that makes each request fetch anew: longer than any TTL.
const STEP_MS: u64 = 4_000_000;

/// The events of one request at different times.
#[derive(Debug)]
pub(crate) struct Events {
    event: Map<String, Value>,
    now_ms: u64,
}

impl Events {
    /// The sample of the function with these parameters.
    ///
    /// # Errors
    /// A sentence, when there is no sample.
    pub(crate) fn new(function: &str, query: Parameters, path: Parameters) -> Result<Self, String> {
        let file = workspace().join("events").join(function).with_extension("json");
        let text =
            std::fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let mut event: Map<_, _> = serde_json::from_slice(&text)
            .map_err(|error| format!("{} is no JSON object: {error}", file.display()))?;
        let single = |values: Parameters| json!(values.iter().copied().collect::<HashMap<_, _>>());
        let multiple: HashMap<_, _> = query.iter().map(|(name, value)| (*name, [*value])).collect();
        event.insert("queryStringParameters".to_owned(), single(query));
        event.insert("multiValueQueryStringParameters".to_owned(), json!(multiple));
        event.insert("pathParameters".to_owned(), single(path));
        Ok(Self { event, now_ms: FIRST_MS })
    }

    /// The event at the time of the last one: after the first, the function responds from its memory.
    pub(crate) fn again(&mut self) -> Bytes {
        let context = self.event.get_mut("requestContext").and_then(Value::as_object_mut);
        if let Some(context) = context {
            context.insert("requestTimeEpoch".to_owned(), self.now_ms.into());
        }
        Bytes::from(json!(self.event).to_string())
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
