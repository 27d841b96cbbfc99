//! Requests every example of the OpenAPI document: the response must conform to the document and belong to the request,
//! and a repeated request must be served from a cache.

use std::collections::{BTreeMap, BTreeSet};

use conformance::{Mismatch, Operation};
use serde_json::Value;

use super::caching::{self, Replay};
use super::envelope;
use super::inspection::Inspection;
use super::latency::Latency;
use super::openapi::check_response;
use super::report::Report;
use super::request::Request;
use super::response::Response;

/// Shorter data may be equal for two requests: an empty list.
const MIN_DISTINCT_BYTES: usize = 40;
/// How often a request is repeated until its response comes from a cache. Each instance of a function has its own.
const MIN_REPETITIONS: u16 = 4;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report, latency: &mut Latency) {
    let mut data_by_request = BTreeMap::<String, String>::new();
    for operation in inspection.document.operations() {
        for request in inspection.example_requests(&operation, 200) {
            let name = format!("response GET {request}");
            let first = match send(inspection, &operation, &request).await {
                Ok(first) => first,
                Err(mismatch) => {
                    report.check(name, Err(mismatch));
                    continue;
                }
            };
            latency.first(&request, first.elapsed);
            report.check(name, check_example(&operation, &request, &first));
            if let Ok(data) = envelope::check_success(&first) {
                data_by_request.insert(request.clone(), data.to_string());
            }
            let repeated = repeat(inspection, &operation, &request, first, latency).await;
            let name = format!("cache GET {request}");
            match repeated {
                Some(Ok(Replay::Identical)) => report.check(name, Ok(())),
                Some(Ok(Replay::TooLate)) => report.skip(name, "every response took longer than the TTL"),
                Some(Err(mismatch)) => report.check(name, Err(mismatch)),
                None => {}
            }
        }
    }
    report.check("different requests have different responses", check_distinct(&data_by_request));
}

async fn send(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
) -> Result<Response, Mismatch> {
    if operation.requires_key() {
        inspection.get(request).await
    } else {
        inspection.client.send(&Request::anonymous(request)).await
    }
}

/// Repeats the request. `None` if the route has no cache.
async fn repeat(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
    first: Response,
    latency: &mut Latency,
) -> Option<Result<Replay, Mismatch>> {
    let route = caching::cached_route(operation.path());
    let mut outcome = Ok(Replay::TooLate);
    let mut earlier = first;
    for count in 1..=inspection.repetitions.max(MIN_REPETITIONS) {
        let is_settled = route.is_none() || matches!(outcome, Ok(Replay::Identical));
        if is_settled && count > inspection.repetitions {
            break;
        }
        let later = match send(inspection, operation, request).await {
            Ok(later) => later,
            Err(mismatch) => return Some(Err(mismatch)),
        };
        latency.repeated(request, later.elapsed);
        if !matches!(outcome, Ok(Replay::Identical)) {
            match caching::compare(&earlier, &later) {
                Ok(Replay::TooLate) => {}
                other => outcome = other,
            }
        }
        if let Err(mismatch) = check_response(operation, &later) {
            return Some(Err(mismatch));
        }
        earlier = later;
    }
    route.map(|_| outcome)
}

/// Checks that the response conforms to the document, has the TTL of its route, and belongs to the request.
fn check_example(operation: &Operation<'_>, request: &str, response: &Response) -> Result<(), Mismatch> {
    if response.status != 200 {
        return Err(Mismatch::new("the status 200", response.summary()));
    }
    check_response(operation, response)?;
    if let Some(route) = caching::cached_route(operation.path()) {
        caching::check_ttl(response, route.cache)?;
    }
    // The data of the index is larger than its example, and the OpenAPI document has no envelope.
    if caching::cached_route(operation.path()).is_none() {
        return Ok(());
    }
    let data = envelope::check_success(response)?;
    // Another player has no example.
    let example = operation.examples(200).find(|example| example.request == request);
    if let Some(data_of_example) = example.and_then(|example| example.body.get("data")) {
        check_fields(data_of_example, &data)?;
    }
    check_parameters(operation, request, &data)
}

/// Checks that the data has the fields of the example, and so have the entries of its lists. A route may describe several
/// shapes, and the response must have the requested one.
fn check_fields(example: &Value, data: &Value) -> Result<(), Mismatch> {
    let names =
        |value: &Value| value.as_object().map(|object| object.keys().cloned().collect::<BTreeSet<String>>());
    let compare = |example: &Value, data: &Value| {
        let (expected, received) = (names(example), names(data));
        if expected == received {
            return Ok(());
        }
        let list = |names: Option<BTreeSet<String>>| {
            names.map(|names| Vec::from_iter(names).join(", ")).unwrap_or_default()
        };
        Err(Mismatch::new(format!("the fields {}", list(expected)), format!("the fields {}", list(received))))
    };
    compare(example, data)?;
    for (name, entries) in example.as_object().into_iter().flatten() {
        let first = |entries: &Value| entries.as_array().and_then(|entries| entries.first()).cloned();
        if let (Some(example), Some(entry)) = (first(entries), data.get(name).and_then(first)) {
            compare(&example, &entry)?;
        }
    }
    Ok(())
}

/// Checks that data which repeats a parameter has the requested value, and that lists respect `limit`.
fn check_parameters(operation: &Operation<'_>, request: &str, data: &Value) -> Result<(), Mismatch> {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_path = operation.path().split('/').zip(path.split('/'));
    let in_path =
        in_path.filter_map(|(name, value)| Some((name.strip_prefix('{')?.strip_suffix('}')?, value)));
    for (name, value) in in_query.chain(in_path) {
        let received = match data.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        if let Some(received) = received.filter(|received| !received.eq_ignore_ascii_case(value)) {
            return Err(Mismatch::new(format!("data with {name} {value}"), format!("{name} {received}")));
        }
        let limit: Option<usize> = value.parse().ok().filter(|_| name == "limit");
        for list in ["items", "history", "candles"] {
            if let (Some(limit), Some(entries)) = (limit, data.get(list).and_then(Value::as_array))
                && entries.len() > limit
            {
                return Err(Mismatch::new(format!("at most {limit} {list}"), entries.len().to_string()));
            }
        }
    }
    Ok(())
}

fn check_distinct(data_by_request: &BTreeMap<String, String>) -> Result<(), Mismatch> {
    let mut seen = BTreeMap::<&str, &str>::new();
    for (request, data) in data_by_request.iter().filter(|(_, data)| data.len() > MIN_DISTINCT_BYTES) {
        if let Some(other) = seen.insert(data, request) {
            let received = format!("the same data for {other} and {request}");
            return Err(Mismatch::new("different data for every request", received));
        }
    }
    if seen.len() < 2 {
        return Err(Mismatch::new("at least two responses to compare", seen.len().to_string()));
    }
    Ok(())
}
