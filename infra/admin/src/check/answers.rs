//! Every route answers its examples as it is described, to the question that was asked, and again from a cache.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::answer::Answer;
use super::caching::{self, Verdict};
use super::description::Operation;
use super::latency::Latency;
use super::part::part;
use super::question::Question;
use super::report::{Failure, Report};
use super::{Inspection, envelope};

/// Shorter data may be the same for two routes: that there is nothing.
const TELLING_BYTES: usize = 40;
/// How often a request is repeated until the answer comes from a cache: several instances each have their own.
const ENOUGH: u16 = 4;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report, latency: &mut Latency) {
    let mut answers = BTreeMap::<String, String>::new();
    for operation in inspection.description.operations() {
        for example in operation.examples(200) {
            let request = inspection.with_player(&operation, example);
            let first = match ask(inspection, &operation, &request).await {
                Ok(first) => first,
                Err(failure) => {
                    report.check(format!("answer GET {request}"), Err(failure));
                    continue;
                }
            };
            latency.first(&request, first.elapsed);
            report.check(format!("answer GET {request}"), judge(&operation, &request, &first));
            if let Ok(data) = envelope::success(&first) {
                answers.insert(request.clone(), data.to_string());
            }
            let repeated = repeat(inspection, &operation, &request, first, latency).await;
            let name = format!("cached GET {request}");
            match repeated {
                Some(Ok(Verdict::Kept)) => report.check(name, Ok(())),
                Some(Ok(Verdict::TooLate)) => {
                    report.skip(name, "every answer took longer than the route's time");
                }
                Some(Err(failure)) => report.check(name, Err(failure)),
                None => {}
            }
        }
    }
    report.check("answers of different requests differ", differ(&answers));
}

async fn ask(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
) -> Result<Answer, Failure> {
    let question = if operation.wants_key {
        Question::paid(request, &inspection.keys.good)
    } else {
        Question::anonymous(request)
    };
    inspection.target.ask(&question).await
}

/// Repeats the request. Nothing where the answer is not cached.
async fn repeat(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
    first: Answer,
    latency: &mut Latency,
) -> Option<Result<Verdict, Failure>> {
    let route = caching::route(operation.path);
    let mut verdict = Ok(Verdict::TooLate);
    let mut earlier = first;
    for count in 1..=inspection.requests.max(ENOUGH) {
        let is_settled = route.is_none() || matches!(verdict, Ok(Verdict::Kept));
        if is_settled && count > inspection.requests {
            break;
        }
        let again = match ask(inspection, operation, request).await {
            Ok(again) => again,
            Err(failure) => return Some(Err(failure)),
        };
        latency.repeated(request, again.elapsed);
        if !matches!(verdict, Ok(Verdict::Kept)) {
            match caching::compare(&earlier, &again) {
                Ok(Verdict::TooLate) => {}
                other => verdict = other,
            }
        }
        // What is said of a replay must be true of every one.
        if let Err(failure) = operation.judge(&again) {
            return Some(Err(failure));
        }
        earlier = again;
    }
    route.map(|_| verdict)
}

/// That the answer is described, lasts as long as it should, and is for this question.
fn judge(operation: &Operation<'_>, request: &str, answer: &Answer) -> Result<(), Failure> {
    if answer.status != 200 {
        return Err(Failure::new("the status 200", answer.shown()));
    }
    operation.judge(answer)?;
    if let Some(route) = caching::route(operation.path) {
        caching::lasts(answer, route.cache)?;
    }
    if !operation.wants_key {
        return Ok(());
    }
    let data = envelope::success(answer)?;
    // Of another player no example is described, but all have the same fields.
    if let Some(example) = operation.example_data(request) {
        alike(example, &data)?;
    }
    asked_for(operation, request, &data)
}

/// That the data has the fields of the example, and so have the entries of its lists: a route may be described to have
/// several kinds of answers, and this is to be the one that was asked for.
fn alike(example: &Value, data: &Value) -> Result<(), Failure> {
    let names =
        |value: &Value| value.as_object().map(|object| object.keys().cloned().collect::<BTreeSet<String>>());
    let expect = |example: &Value, data: &Value| {
        let (expected, came) = (names(example), names(data));
        if expected == came {
            return Ok(());
        }
        let list = |names: Option<BTreeSet<String>>| {
            names.map(|names| Vec::from_iter(names).join(", ")).unwrap_or_default()
        };
        Err(Failure::new(format!("the fields {}", list(expected)), format!("the fields {}", list(came))))
    };
    expect(example, data)?;
    for (name, entries) in example.as_object().into_iter().flatten() {
        let first = |entries: &Value| entries.as_array().and_then(|entries| entries.first()).cloned();
        if let (Some(example), Some(entry)) = (first(entries), first(part(data, &[name]))) {
            expect(&example, &entry)?;
        }
    }
    Ok(())
}

/// That the data says what was asked for, where it says so at all.
fn asked_for(operation: &Operation<'_>, request: &str, data: &Value) -> Result<(), Failure> {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
    let in_path = operation.path.split('/').zip(path.split('/'));
    let in_path =
        in_path.filter_map(|(name, value)| Some((name.strip_prefix('{')?.strip_suffix('}')?, value)));
    for (name, value) in in_query.chain(in_path) {
        let said = match part(data, &[name]) {
            Value::String(said) => Some(said.clone()),
            Value::Number(said) => Some(said.to_string()),
            _ => None,
        };
        if let Some(said) = said.filter(|said| !said.eq_ignore_ascii_case(value)) {
            return Err(Failure::new(format!("data with {name} {value}"), format!("{name} {said}")));
        }
        let most: Option<usize> = value.parse().ok().filter(|_| name == "limit");
        for list in ["items", "history"] {
            let came = part(data, &[list]).as_array().map(Vec::len);
            if let (Some(most), Some(came)) = (most, came)
                && came > most
            {
                return Err(Failure::new(format!("{most} {list} at the most"), came.to_string()));
            }
        }
    }
    Ok(())
}

fn differ(answers: &BTreeMap<String, String>) -> Result<(), Failure> {
    let mut seen = BTreeMap::<&str, &str>::new();
    for (request, data) in answers.iter().filter(|(_, data)| data.len() > TELLING_BYTES) {
        if let Some(other) = seen.insert(data, request) {
            return Err(Failure::new(
                "an answer of its own to each",
                format!("the same to {other} and {request}"),
            ));
        }
    }
    if seen.len() < 2 {
        return Err(Failure::new("answers to compare", format!("{}", seen.len())));
    }
    Ok(())
}
