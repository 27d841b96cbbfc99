//! The activity of a page: its requests, and the errors and warnings in the console, such as violations of
//! its content security policy.

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    id: Value,
    pub(crate) url: String,
    /// Address, method, headers and body, as the debugging protocol describes them.
    pub(crate) sent: Value,
    /// When the request was sent, in Unix milliseconds.
    pub(crate) sent_at_ms: f64,
    /// The response with its `status` and `headers`, or `null` until it arrives.
    pub(crate) response: Value,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    base: String,
    key: String,
    requests: Vec<Request>,
    /// Errors and warnings.
    console: Vec<String>,
}

impl Seen {
    /// Starts without activity, for pages whose addresses begin with `base`. No request may have `key`
    /// outside the header `X-API-Key` and the fragment.
    pub(super) fn of(base: &str, key: &str) -> Self {
        Self { base: base.to_owned(), key: key.to_owned(), ..Self::default() }
    }

    /// The requests whose path and query begin with `path`.
    pub(super) fn requests(&self, path: &str) -> impl Iterator<Item = &Request> {
        let front = format!("{}{path}", self.base);
        self.requests.iter().filter(move |request| request.url.starts_with(&front))
    }

    /// The forbidden actions of the page: unexpected errors and warnings in the console, requests to other
    /// hosts, and requests that show the key.
    pub(super) fn faults(&self, expected: &[&str]) -> Vec<String> {
        let is_expected = |message: &String| expected.iter().any(|part| message.contains(part));
        // A service without a history responds with a 404 to requests for whole days.
        let is_missing_day = |message: &String| {
            let is_of_days = ["/bazaar/candles/all?", "/days/"].iter().any(|part| message.contains(part));
            is_of_days && message.contains(" 404 ")
        };
        let console = self.console.iter().filter(|message| !is_expected(message) && !is_missing_day(message));
        let mut faults: Vec<_> = console.cloned().collect();
        for Request { url, sent, .. } in &self.requests {
            let is_inside = ["data:", "blob:", "about:"].iter().any(|scheme| url.starts_with(scheme));
            if !is_inside && !url.starts_with(&format!("{}/", self.base)) {
                faults.push(format!("request to {url}"));
            }
            let mut readable = sent.clone();
            // The key may be in the fragment, which is never sent, and in its header.
            readable["urlFragment"].take();
            let headers = readable["headers"].as_object_mut().unwrap();
            headers.retain(|name, _| !name.eq_ignore_ascii_case("x-api-key"));
            if !self.key.is_empty() && readable.to_string().contains(&self.key) {
                faults.push(format!("the key can be read in {readable}"));
            }
        }
        faults
    }

    /// Records an event of the debugging protocol.
    pub(super) fn note(&mut self, method: &str, event: &Value) {
        match method {
            "Network.requestWillBeSent" => self.requests.push(Request {
                id: event["requestId"].clone(),
                url: event["request"]["url"].as_str().unwrap().to_owned(),
                sent: event["request"].clone(),
                sent_at_ms: event["wallTime"].as_f64().unwrap() * 1_000.0,
                response: Value::Null,
            }),
            "Network.responseReceived" => {
                let mut requests = self.requests.iter_mut().rev();
                if let Some(request) = requests.find(|request| request.id == event["requestId"]) {
                    request.response = event["response"].clone();
                }
            }
            "Log.entryAdded" => {
                let entry = &event["entry"];
                self.log(&entry["level"], format!("{} {}", entry["text"], entry["url"]));
            }
            "Runtime.consoleAPICalled" => self.log(&event["type"], event["args"].to_string()),
            "Runtime.exceptionThrown" => self.console.push(event["exceptionDetails"].to_string()),
            _ => {}
        }
    }

    fn log(&mut self, level: &Value, message: String) {
        if ["error", "warning", "assert"].iter().any(|fault| level == fault) {
            self.console.push(message);
        }
    }
}
