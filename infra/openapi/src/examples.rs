//! Examples, one for each kind of response, and requests that fail. All examples of fields and parameters in
//! the document are taken from these.

use std::collections::BTreeMap;

use common::description::{Description, FailingRequest, Kind};
use common::error::{ApiError, Code};
use common::request::invalid_parameter;
use common::request::parameters::InvalidValue;
use common::routes::{Location, Parameter, Route};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::schemas::SCHEMA_PREFIX;

/// A request and the data of its response.
#[derive(Debug, Deserialize)]
pub(crate) struct Example {
    /// Path and query.
    pub(crate) request: &'static str,
    pub(crate) data: Value,
    /// The same data as CSV, for routes that have CSV.
    pub(crate) csv: Option<String>,
}

impl Example {
    /// Parses the example of a kind of response.
    pub(crate) fn of(route: &Route, kind: &Kind) -> Result<Self, Error> {
        serde_json::from_str(kind.example).map_err(|cause| Error::Example {
            path: route.path,
            kind: kind.name,
            cause,
        })
    }

    /// Returns the value of the parameter in the request: a number or a boolean if the schema requires one.
    pub(crate) fn value(&self, route: &Route, parameter: &Parameter, schema: &Value) -> Option<Value> {
        let text = value_in(self.request, route, parameter)?;
        let is_text = schema.get("type").is_none_or(|kind| kind == "string");
        if is_text { Some(text.into()) } else { serde_json::from_str(&text).ok() }
    }
}

/// Returns the value of the parameter in the path and query `request`, decoded.
fn value_in(request: &str, route: &Route, parameter: &Parameter) -> Option<String> {
    let text = match parameter.location {
        Location::Path => {
            let (before, after) = route.path.split_once(&format!("{{{}}}", parameter.name))?;
            request.strip_prefix(before)?.strip_suffix(after)?
        }
        Location::Query => {
            let (_, query) = request.split_once('?')?;
            query.split('&').find_map(|pair| pair.strip_prefix(parameter.name)?.strip_prefix('='))?
        }
    };
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

/// A request whose response is an error.
pub(crate) struct FailedRequest {
    pub(crate) name: &'static str,
    /// Path and query.
    pub(crate) request: &'static str,
    pub(crate) code: Code,
    pub(crate) message: String,
}

pub(crate) fn failed_requests(description: &Description) -> Result<Vec<FailedRequest>, Error> {
    let of = |&FailingRequest { name, request, ref error }: &FailingRequest| {
        let failed = |error: &ApiError| FailedRequest {
            name,
            request,
            code: error.code(),
            message: error.message().to_owned(),
        };
        if let Some(error) = error {
            return Ok(failed(error));
        }
        let route = description.route;
        let parameter = route.parameter(name).ok_or(Error::NoFailure(request))?;
        let value = value_in(request, route, parameter).ok_or(Error::NoFailure(request))?;
        Ok(failed(&invalid_parameter(name, InvalidValue { allowed: parameter.allowed }, &value)))
    };
    description.failures.iter().map(of).collect()
}

/// The example values of named schemas.
#[derive(Debug, Default)]
pub(crate) struct Examples(Vec<(Value, Value)>);

impl Examples {
    pub(crate) fn add(&mut self, schema: Value, value: Value) {
        self.0.push((schema, value));
    }

    /// Gives every schema and every field the first value that the examples have for it.
    pub(crate) fn give_to(self, schemas: &mut Map<String, Value>) {
        let mut collected = Collected::default();
        for (schema, value) in &self.0 {
            collected.collect(schemas, schema, value);
        }
        for ((name, field), value) in collected.0 {
            let schema = schemas.get_mut(&name);
            let place = match field {
                None => schema,
                Some(field) => schema.and_then(|schema| schema.get_mut("properties")?.get_mut(field)),
            };
            if let Some(Value::Object(place)) = place {
                place.insert("examples".to_owned(), json!([value]));
            }
        }
    }
}

/// Examples by the name of the schema and, for the example of a field, by the name of the field.
#[derive(Default)]
struct Collected(BTreeMap<(String, Option<String>), Value>);

impl Collected {
    fn collect(&mut self, schemas: &Map<String, Value>, schema: &Value, value: &Value) {
        // If `schema` allows a named schema or null, the named schema comes first.
        let schema = match schema.get("anyOf").and_then(Value::as_array).and_then(|shapes| shapes.first()) {
            Some(named) if !value.is_null() => named,
            _ => schema,
        };
        let name =
            schema.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix(SCHEMA_PREFIX));
        let Some((name, named)) = name.and_then(|name| Some((name, schemas.get(name)?))) else {
            self.collect_inside(schemas, schema, value);
            return;
        };
        self.0.entry((name.to_owned(), None)).or_insert_with(|| value.clone());
        let properties = named.get("properties").and_then(Value::as_object);
        for (field, schema) in properties.into_iter().flatten() {
            let Some(value) = value.get(field) else { continue };
            // If the field's type is a named schema, the example is in the definition of that schema.
            if schema.get("$ref").is_none() {
                self.0.entry((name.to_owned(), Some(field.clone()))).or_insert_with(|| value.clone());
            }
            self.collect(schemas, schema, value);
        }
    }

    fn collect_inside(&mut self, schemas: &Map<String, Value>, schema: &Value, value: &Value) {
        if let (Some(items), Value::Array(values)) = (schema.get("items"), value) {
            for value in values {
                self.collect(schemas, items, value);
            }
        }
        if let (Some(entries @ Value::Object(_)), Value::Object(values)) =
            (schema.get("additionalProperties"), value)
        {
            for value in values.values() {
                self.collect(schemas, entries, value);
            }
        }
    }
}
