//! The API description that the deployment serves, and what answers have to look like by it.

use common::routes::OPENAPI;
use serde_json::{Value, json};

use super::answer::{Answer, shortened};
use super::envelope;
use super::part::part;
use super::question::Question;
use super::report::{Failure, Report};
use super::target::Target;
use crate::error::Error;

/// The description of the version that this program was built with.
const COMPILED_IN: &str = include_str!("../../../../functions/index/openapi.json");
const JSON: &str = "application/json";
/// How many differences from a schema are told.
const TOLD: usize = 3;

/// An API description.
pub(super) struct Description {
    document: Value,
    /// Its components, in which no object may have a field that is not described unless it says so. Later versions may
    /// add fields; this is the version that is described.
    closed: Value,
}

/// A route, as it is described.
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    /// Whether it wants a key.
    pub(super) wants_key: bool,
    described: &'a Value,
    description: &'a Description,
}

/// The description that the deployment serves, if it serves one.
///
/// # Errors
/// If nobody answers.
pub(super) async fn fetch(target: &Target, report: &mut Report) -> Result<Option<Description>, Error> {
    let answer = target.ask(&Question::anonymous(OPENAPI.path)).await;
    let answer = answer.map_err(|failure| Error::Unreachable { cause: failure.came })?;
    let served = served(&answer);
    let document = served.as_ref().ok().cloned();
    report.check("description is served", served.map(drop));
    match &document {
        Some(document) => report.check("description is of this version", same(document)),
        None => report.skip("description is of this version", "none is served"),
    }
    Ok(document.map(Description::of))
}

fn served(answer: &Answer) -> Result<Value, Failure> {
    if answer.status != 200 {
        return Err(Failure::new("an OpenAPI document", answer.shown()));
    }
    let document = answer.json()?;
    let is_one = part(&document, &["openapi"]).is_string() && part(&document, &["paths"]).is_object();
    if is_one { Ok(document) } else { Err(Failure::new("an OpenAPI document", answer.shown())) }
}

fn same(document: &Value) -> Result<(), Failure> {
    let expected: Value = serde_json::from_str(COMPILED_IN).unwrap_or_default();
    let version = |document: &Value| {
        format!("version {}", part(document, &["info", "version"]).as_str().unwrap_or("none"))
    };
    let (is, should_be) = (version(document), version(&expected));
    if is != should_be {
        return Err(Failure::new(format!("{should_be}, which this program was built with"), is));
    }
    if *document == expected {
        return Ok(());
    }
    Err(Failure::new(
        format!("{should_be}, word for word as this program was built with it"),
        format!("another text of the same version: {}", difference("", &expected, document)),
    ))
}

/// Where two documents differ first.
fn difference(place: &str, expected: &Value, came: &Value) -> String {
    match (expected, came) {
        (Value::Object(expected), Value::Object(came)) => {
            let names = expected.keys().chain(came.keys());
            for name in names {
                let place = format!("{place}/{name}");
                match (expected.get(name), came.get(name)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return difference(&place, one, other),
                    (Some(_), None) => return format!("{place} is missing"),
                    (None, _) => return format!("{place} is new"),
                }
            }
            place.to_owned()
        }
        _ => format!("{place} is {}", shortened(&came.to_string())),
    }
}

impl Description {
    fn of(document: Value) -> Self {
        let mut closed = part(&document, &["components"]).clone();
        close(&mut closed);
        Self { document, closed }
    }

    /// The routes.
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let paths = part(&self.document, &["paths"]).as_object().into_iter().flatten();
        paths.map(|(path, item)| {
            let operation = part(item, &["get"]);
            let security = operation.get("security").unwrap_or(part(&self.document, &["security"]));
            let wants_key = security.as_array().is_some_and(|schemes| !schemes.is_empty());
            Operation { path, wants_key, described: operation, description: self }
        })
    }

    /// What `component` refers to, or itself.
    fn followed<'a>(&'a self, component: &'a Value) -> &'a Value {
        let reference = part(component, &["$ref"]).as_str().and_then(|reference| reference.strip_prefix('#'));
        reference.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(component)
    }

    /// That the value fits the schema.
    fn fit(&self, schema: &Value, value: &Value) -> Result<(), Failure> {
        let mut schema = schema.clone();
        close(&mut schema);
        let whole = json!({"allOf": [schema], "components": self.closed});
        let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&whole);
        let validator = validator
            .map_err(|error| Failure::new("a schema in the description", shortened(&error.to_string())))?;
        let errors = validator.iter_errors(value).take(TOLD);
        let errors =
            errors.map(|error| format!("{} at {}", shortened(&error.to_string()), error.instance_path()));
        let errors: Vec<String> = errors.collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Failure::new("what the description says", errors.join("; ")))
        }
    }
}

impl Operation<'_> {
    /// The requests whose described answers have the status.
    pub(super) fn examples(&self, status: u16) -> Vec<String> {
        let response = self.description.followed(part(self.described, &["responses", &status.to_string()]));
        let examples = part(response, &["content", JSON, "examples"]).as_object().into_iter().flatten();
        let summaries = examples.filter_map(|(_, example)| part(example, &["summary"]).as_str());
        // "GET /path", and whether the answer is shortened.
        summaries
            .filter_map(|summary| summary.strip_prefix("GET ")?.split(' ').next())
            .map(str::to_owned)
            .collect()
    }

    /// The data of the described answer to the request.
    pub(super) fn example_data(&self, request: &str) -> Option<&Value> {
        let response = self.description.followed(part(self.described, &["responses", "200"]));
        let examples = part(response, &["content", JSON, "examples"]).as_object().into_iter().flatten();
        let mut examples = examples.map(|(_, example)| example);
        let example = examples.find(|example| {
            part(example, &["summary"]).as_str().and_then(|summary| summary.strip_prefix("GET "))
                == Some(request)
        })?;
        example.get("value")?.get("data")
    }

    /// The names of its parameters.
    pub(super) fn parameters(&self) -> Vec<&str> {
        let parameters = part(self.described, &["parameters"]).as_array().into_iter().flatten();
        parameters.filter_map(|parameter| part(parameter, &["name"]).as_str()).collect()
    }

    /// That the answer is one that is described.
    ///
    /// # Errors
    /// What is not.
    pub(super) fn judge(&self, answer: &Answer) -> Result<(), Failure> {
        let response = part(self.described, &["responses", &answer.status.to_string()]);
        if response.is_null() {
            return Err(Failure::new("a status that is described", answer.shown()));
        }
        let response = self.description.followed(response);
        if answer.header("content-type") != Some(JSON) {
            return Err(Failure::new(format!("the header content-type: {JSON}"), answer.shown()));
        }
        self.description.fit(part(response, &["content", JSON, "schema"]), &answer.json()?)?;
        let described = part(response, &["headers"]).as_object();
        for (name, header) in described.into_iter().flatten() {
            let schema = part(self.description.followed(header), &["schema"]);
            let Some(text) = answer.header(name) else {
                return Err(Failure::new(format!("the header {name}, once"), answer.shown_header(name)));
            };
            self.description.fit(schema, &as_json(text, schema)).map_err(|failure| {
                Failure::new(
                    format!("the header {name} as it is described"),
                    format!("{text}: {}", failure.came),
                )
            })?;
        }
        for name in ["last-modified", "expires", "retry-after"] {
            let is_described =
                described.is_some_and(|headers| headers.keys().any(|known| known.eq_ignore_ascii_case(name)));
            if !is_described && answer.headers.contains_key(name) {
                return Err(Failure::new(format!("no header {name}"), answer.shown_header(name)));
            }
        }
        if answer.status != 200 {
            return envelope::error(answer, answer.status).map(drop);
        }
        // The description of the service is in the shape of another specification.
        if self.path == OPENAPI.path { Ok(()) } else { envelope::success(answer).map(drop) }
    }
}

/// Forbids what is not described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && !object.contains_key("additionalProperties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            let parts =
                object.iter_mut().filter(|(name, _)| !["example", "examples"].contains(&name.as_str()));
            parts.for_each(|(_, part)| close(part));
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

/// A header's text as the JSON value that a schema of this type means.
fn as_json(text: &str, schema: &Value) -> Value {
    let number: Option<u64> = text.parse().ok().filter(|_| part(schema, &["type"]) == "integer");
    number.map_or_else(|| json!(text), |number| json!(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled_in() -> Value {
        serde_json::from_str(COMPILED_IN).unwrap()
    }

    #[test]
    fn every_route_has_an_example() {
        let description = Description::of(compiled_in());
        for operation in description.operations() {
            assert!(!operation.examples(200).is_empty(), "{}", operation.path);
            assert_eq!(operation.wants_key, operation.path.starts_with("/v1/"));
        }
        assert_eq!(description.operations().count(), 12);
    }

    #[test]
    fn another_description_is_noticed_and_told_where() {
        assert_eq!(same(&compiled_in()), Ok(()));
        let mut other = compiled_in();
        other["info"]["version"] = "9.9.9".into();
        assert_eq!(same(&other).unwrap_err().came, "version 9.9.9");
        let mut other = compiled_in();
        other["paths"]["/v1/mayor"]["get"]["summary"] = "x".into();
        assert!(same(&other).unwrap_err().came.ends_with(r#"/paths//v1/mayor/get/summary is "x""#));
    }
}
