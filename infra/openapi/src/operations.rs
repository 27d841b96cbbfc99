//! The operations: `GET` of each route, and `HEAD` of some.

use std::cmp::Reverse;

use common::description::Description;
use common::request::parameters::Allowed;
use common::routes::{Location, OPENAPI, Parameter, Route};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::examples::{Example, Examples, failed_requests};
use crate::responses;
use crate::schemas::Schemas;

/// The version of OpenAPI that the document is written in.
pub(crate) const OPENAPI_VERSION: &str = "3.1.1";

/// Returns the operation of a function's route.
pub(crate) fn of(
    description: &Description,
    schemas: &mut Schemas,
    examples: &mut Examples,
) -> Result<Value, Error> {
    let route = description.route;
    let mut data = Vec::new();
    let mut examples_of_success = Map::new();
    let mut requests = Vec::new();
    for kind in &description.kinds {
        let example = Example::of(route, kind)?;
        let schema = schemas.schema(kind.data);
        let name = if kind.name.is_empty() { "answer" } else { kind.name };
        let value = responses::success_example(&example.data);
        let summary = format!("GET {}", example.request);
        examples_of_success.insert(name.to_owned(), json!({ "summary": summary, "value": value }));
        examples.add(schema.clone(), example.data.clone());
        data.push((schema, name));
        requests.push((name, example));
    }
    let data = match data.as_mut_slice() {
        [(only, _)] => only.clone(),
        kinds => {
            // Generated clients take the first kind that a value fits, so a kind with more required fields
            // comes first.
            kinds.sort_by_key(|(schema, _)| Reverse(schemas.required_fields(schema)));
            for (schema, name) in kinds.iter_mut() {
                if let Value::Object(schema) = schema {
                    schema.insert("description".to_owned(), condition(route, name).into());
                }
            }
            let alternatives: Vec<_> = kinds.iter().map(|(schema, _)| schema).collect();
            // Not oneOf: an empty list matches several kinds.
            json!({ "anyOf": alternatives, "description": "The data of the mode." })
        }
    };
    let mut responses = responses::shared(route.requires_key);
    responses.append(&mut responses::failures(&failed_requests(description)?));
    let is_fetched = !route.cache.is_zero();
    let envelope = responses::success_envelope(route.path, &data);
    let schema = schemas.add(envelope_name(route), envelope);
    let csv = requests.iter().find_map(|(_, example)| example.csv.as_deref());
    if description.has_csv && csv.is_none() {
        return Err(Error::NoCsv(route.path));
    }
    let success =
        responses::success(route.description, &schema, &examples_of_success.into(), csv, is_fetched);
    responses.insert("200".to_owned(), success);
    let parameters = route.parameters.iter().map(|parameter| parameter_object(route, parameter, &requests));
    let id = format!("get{}", capitalized(route.function));
    Ok(operation(route, &id, parameters.collect::<Result<_, _>>()?, responses))
}

/// Says which requests have this kind of response.
fn condition(route: &Route, kind: &str) -> String {
    let decides = |parameter: &&Parameter| match parameter.allowed {
        Allowed::OneOf { words, .. } => words.contains(&kind),
        _ => false,
    };
    let parameter = route.parameters.iter().find(decides);
    parameter
        .map_or_else(|| format!("With `{kind}`."), |Parameter { name, .. }| format!("With `{name}={kind}`."))
}

/// Returns the operation that returns the document itself.
pub(crate) fn of_the_document(schemas: &mut Schemas) -> Value {
    let part = |description: &str| json!({ "type": "object", "description": description, "examples": [{}] });
    let schema = json!({
        "type": "object",
        "description": "An OpenAPI document, without an envelope. The specification of OpenAPI defines its content.",
        "properties": {
            "openapi": {
                "type": "string",
                "description": "The version of OpenAPI.",
                "examples": [OPENAPI_VERSION],
            },
            "info": part("Name, version and introduction of the service."),
            "paths": part("The operations, by path."),
            "components": part("Schemas, responses and headers that operations share."),
        },
        "required": ["openapi", "info", "paths", "components"],
        "additionalProperties": true,
    });
    let schema = schemas.add("OpenApiDocument".to_owned(), schema);
    let examples = json!({
        "shortened": {
            "summary": format!("GET {} (shortened)", OPENAPI.path),
            "value": {
                "openapi": OPENAPI_VERSION,
                "info": { "title": "Game Data Query Service", "version": env!("CARGO_PKG_VERSION") },
                "paths": {},
                "components": {},
            },
        },
    });
    let mut responses = responses::shared(OPENAPI.requires_key);
    responses
        .insert("200".to_owned(), responses::success(OPENAPI.description, &schema, &examples, None, false));
    operation(&OPENAPI, "getDescription", Vec::new(), responses)
}

/// Returns an operation. `id` is its name, such as `getMayorHistory`.
fn operation(route: &Route, id: &str, parameters: Vec<Value>, responses: Map<String, Value>) -> Value {
    let mut operation = Map::from_iter([
        ("operationId".to_owned(), id.into()),
        ("summary".to_owned(), route.summary.into()),
        ("description".to_owned(), format!("{} {}", route.description, terms(route)).into()),
        ("tags".to_owned(), json!([route.tag.name])),
        ("responses".to_owned(), responses.into()),
    ]);
    // For programs, such as the test of the template.
    if !route.cache.is_zero() {
        operation.insert("x-cache-seconds".to_owned(), route.cache.as_secs().into());
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), parameters.into());
    }
    if !route.requires_key {
        operation.insert("security".to_owned(), json!([]));
    }
    operation.into()
}

/// Returns the operation `HEAD` of a route. `get` is its operation `GET`.
pub(crate) fn head_of(route: &Route, get: &Value) -> Value {
    let shared = responses::shared_failures();
    let responses = get.get("responses").and_then(Value::as_object).into_iter().flatten();
    let without_content = responses.map(|(status, response)| {
        let name = response.get("$ref").and_then(Value::as_str).and_then(|place| place.rsplit('/').next());
        let response = name.and_then(|name| shared.get(name)).unwrap_or(response);
        let part = |name: &str| response.get(name).cloned().unwrap_or_default();
        (status.clone(), json!({ "description": part("description"), "headers": part("headers") }))
    });
    let id = get.get("operationId").and_then(Value::as_str).unwrap_or_default();
    json!({
        "operationId": id.replacen("get", "head", 1),
        "summary": format!("Get the headers of {}", route.path),
        "description": "The status and the headers of `GET` without content. `Content-Length` can differ.",
        "tags": [route.tag.name],
        "responses": without_content.collect::<Map<_, _>>(),
        "security": [],
    })
}

/// Returns a name such as `FireSalesResponse`. For a schema without a name, generators of clients derive one
/// from the path and status.
fn envelope_name(route: &Route) -> String {
    format!("{}Response", capitalized(route.function))
}

/// Returns a name such as `FireSales`, from `fire-sales`.
fn capitalized(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}

/// Says whether the route requires a key, and how long its responses are cached.
fn terms(route: &Route) -> String {
    let key = if route.requires_key { "Requires an API key." } else { "Requires no API key." };
    match route.cache.as_secs() {
        0 => format!("{key} Responses are not cached."),
        seconds => format!("{key} Responses are cached for {seconds} s."),
    }
}

fn parameter_object(
    route: &'static Route,
    parameter: &'static Parameter,
    requests: &[(&str, Example)],
) -> Result<Value, Error> {
    let schema = parameter.allowed.schema().to_value();
    let mut examples = Map::new();
    // The values from one request have the same name as the example of its response, so that a client can
    // fill in parameters that belong together.
    for (name, request) in requests {
        if let Some(value) = request.value(route, parameter, &schema) {
            examples.insert((*name).to_owned(), json!({ "value": value }));
        }
    }
    if examples.is_empty() {
        return Err(Error::NoValue { path: route.path, parameter: parameter.name });
    }
    Ok(json!({
        "name": parameter.name,
        "in": parameter.location.name(),
        "required": parameter.required || parameter.location == Location::Path,
        "description": format!("{}.", parameter.description()),
        "schema": schema,
        "examples": examples,
    }))
}
