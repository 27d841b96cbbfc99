//! The record of a window: requests, messages in the console, exceptions, violations of the policy, long tasks and layout
//! shifts.

use std::collections::BTreeMap;

use serde_json::Value;

/// The name of the function with which [`SCRIPT`] reports.
pub(super) const REPORT: &str = "reportToTest";

/// Runs in every page before its own scripts. Names of fields are those of [`Seen::report`].
pub(super) const SCRIPT: &str = r#"
(() => {
  const report = (kind, value) => reportToTest(JSON.stringify({ kind, page: location.pathname, value }));
  addEventListener("securitypolicyviolation", (event) => report("violation",
    `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`), true);
  const observe = (type, note) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
  observe("longtask", (entry) => report("task", { start: entry.startTime, milliseconds: entry.duration }));
  observe("layout-shift", (entry) => entry.hadRecentInput || report("shift", {
    score: entry.value,
    start: entry.startTime,
    elements: entry.sources.map(({ node, previousRect: from, currentRect: to }) =>
      `${node?.nodeName}.${node?.className ?? ""} ${from.x},${from.y},${from.width},${from.height} -> ${to.x},${to.y},${to.width},${to.height}`),
  }));
})();
"#;

/// A request of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) url: String,
    /// As they are sent, names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// When it was sent, in Unix milliseconds.
    pub(crate) sent_at_ms: f64,
    /// The status of the response, if there is one yet.
    pub(crate) status: Option<u64>,
    /// The headers of the response, names in lower case.
    pub(crate) response_headers: BTreeMap<String, String>,
    body: Option<String>,
}

/// A task that blocked the page for more than 50 ms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// Since the page was opened.
    pub(crate) start_ms: f64,
    pub(crate) duration_ms: f64,
}

/// All that a window has seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    base: String,
    key: String,
    /// By the browser's id, in order.
    requests: Vec<(String, Request)>,
    /// Headers that arrived before their request.
    early: BTreeMap<String, BTreeMap<String, String>>,
    /// Errors and warnings.
    console: Vec<String>,
    violations: Vec<String>,
    pub(crate) tasks: Vec<Task>,
    /// Movements that no input has caused: the score of each and what moved.
    pub(crate) shifts: Vec<(f64, String)>,
}

/// Whether the address, or a message with it, is of whole days. A service without a past has none, which the page learns from a 404.
pub(crate) fn is_of_days(address: &str) -> bool {
    address.contains("/bazaar/candles/all?") || address.contains("/days/")
}

impl Seen {
    /// Nothing yet, for pages whose addresses begin with `base`. `key` must not be seen in any address.
    pub(super) fn of(base: &str, key: &str) -> Self {
        Self { base: base.to_owned(), key: key.to_owned(), ..Self::default() }
    }

    /// The requests, in order.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().map(|(_, request)| request)
    }

    /// The requests whose path and query, without the base, begin with this.
    pub(crate) fn requests_for(&self, path: &str) -> Vec<&Request> {
        let front = format!("{}{path}", self.base);
        self.requests().filter(|request| request.url.starts_with(&front)).collect()
    }

    /// The sum of the scores of layout shifts.
    pub(crate) fn layout_shift(&self) -> f64 {
        self.shifts.iter().map(|(score, _)| score).sum()
    }

    /// What no page may do: errors and warnings in the console apart from the expected ones, violations of a policy, requests of
    /// other hosts, and the key where others can read it.
    pub(crate) fn faults(&self, expected: &[&str]) -> Vec<String> {
        let is_missing_day = |message: &str| message.contains(" 404 ") && is_of_days(message);
        let is_expected =
            |message: &&String| expected.iter().any(|part| message.contains(part)) || is_missing_day(message);
        let console = self.console.iter().filter(|message| !is_expected(message));
        let mut faults: Vec<_> = console.chain(&self.violations).cloned().collect();
        for request in self.requests() {
            let Request { url, headers, body, .. } = request;
            let is_inside = ["data:", "blob:", "about:"].iter().any(|scheme| url.starts_with(scheme));
            if !is_inside && !url.starts_with(&format!("{}/", self.base)) {
                faults.push(format!("request to {url}"));
            }
            let mut readable = vec![("address", url)];
            readable.extend(body.iter().map(|body| ("body", body)));
            for (name, value) in headers {
                if name != "x-api-key" {
                    readable.push((name, value));
                }
            }
            for (place, text) in readable {
                if !self.key.is_empty() && text.contains(&self.key) {
                    faults.push(format!("the key is in the {place} of a request: {text}"));
                }
            }
        }
        faults
    }

    /// Takes note of an event of the debugging protocol.
    pub(super) fn note(&mut self, method: &str, event: &Value) {
        match method {
            "Network.requestWillBeSent" => self.request(event),
            "Network.requestWillBeSentExtraInfo" => self.headers(event),
            "Network.responseReceived" => self.response(event),
            "Log.entryAdded" => self.log_entry(&event["entry"]),
            "Runtime.consoleAPICalled" => self.console(event),
            "Runtime.exceptionThrown" => self.exception(&event["exceptionDetails"]),
            "Audits.issueAdded" => self.issue(&event["issue"]),
            "Runtime.bindingCalled" => self.report(event),
            _ => {}
        }
    }

    fn request(&mut self, event: &Value) {
        let id = text(&event["requestId"]);
        let request = &event["request"];
        let mut headers = lower_case(&request["headers"]);
        headers.extend(self.early.remove(&id).unwrap_or_default());
        let request = Request {
            url: text(&request["url"]),
            headers,
            sent_at_ms: event["wallTime"].as_f64().unwrap_or_default() * 1_000.0,
            status: None,
            response_headers: BTreeMap::new(),
            body: request.get("postData").map(text),
        };
        self.requests.push((id, request));
    }

    fn headers(&mut self, event: &Value) {
        let (id, headers) = (text(&event["requestId"]), lower_case(&event["headers"]));
        match self.requests.iter_mut().rev().find(|(other, _)| *other == id) {
            Some((_, request)) => request.headers.extend(headers),
            None => drop(self.early.insert(id, headers)),
        }
    }

    fn response(&mut self, event: &Value) {
        let id = text(&event["requestId"]);
        if let Some((_, request)) = self.requests.iter_mut().rev().find(|(other, _)| *other == id) {
            request.status = event["response"]["status"].as_u64();
            request.response_headers = lower_case(&event["response"]["headers"]);
        }
    }

    fn log_entry(&mut self, entry: &Value) {
        if entry["level"] == "error" || entry["level"] == "warning" {
            let [level, source, message, url] =
                ["level", "source", "text", "url"].map(|field| text(&entry[field]));
            self.console.push(format!("{level} of {source}: {message} {url}"));
        }
    }

    fn console(&mut self, event: &Value) {
        let kind = text(&event["type"]);
        if ["error", "warning", "assert"].contains(&kind.as_str()) {
            let arguments = event["args"].as_array().cloned().unwrap_or_default();
            let shown = |argument: &Value| {
                argument.get("value").or(argument.get("description")).map(text).unwrap_or_default()
            };
            let message = arguments.iter().map(shown).collect::<Vec<_>>().join(" ");
            self.console.push(format!("console.{kind}: {message}"));
        }
    }

    fn exception(&mut self, details: &Value) {
        let [message, url] = ["text", "url"].map(|field| text(&details[field]));
        self.console
            .push(format!("exception: {message} {} {url}", text(&details["exception"]["description"])));
    }

    fn issue(&mut self, issue: &Value) {
        if issue["code"] == "ContentSecurityPolicyIssue" {
            self.violations.push(issue["details"].to_string());
        }
    }

    fn report(&mut self, event: &Value) {
        if event["name"] != REPORT {
            return;
        }
        let payload: Value = serde_json::from_str(&text(&event["payload"])).unwrap();
        let value = &payload["value"];
        let number = |field: &str| value[field].as_f64().unwrap_or_default();
        match payload["kind"].as_str() {
            Some("violation") => self.violations.push(format!("{} {}", text(&payload["page"]), text(value))),
            Some("task") => {
                self.tasks.push(Task { start_ms: number("start"), duration_ms: number("milliseconds") });
            }
            Some("shift") => self.shifts.push((number("score"), value.to_string())),
            _ => panic!("{payload}"),
        }
    }
}

/// A text as it is, and any other value as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn lower_case(headers: &Value) -> BTreeMap<String, String> {
    let headers = headers.as_object().into_iter().flatten();
    let sent = headers.filter(|(_, value)| *value != "");
    sent.map(|(name, value)| (name.to_lowercase(), text(value))).collect()
}
