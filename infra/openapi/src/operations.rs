//! The operations: one for each route, `GET`.

use common::openapi::{Description, Kind};
use common::routes::{Location, OPENAPI, Parameter, Route};
use serde_json::{Map, Value, json};

use crate::examples::{Example, Examples};
use crate::schemas::Schemas;
use crate::{Error, OPENAPI_VERSION, answers, failures};

/// The operation of a function's route.
pub(crate) fn of(
    description: &Description,
    schemas: &mut Schemas,
    examples: &mut Examples,
) -> Result<Value, Error> {
    let route = description.route;
    let mut data = Vec::new();
    let mut answered = Map::new();
    let mut requests = Vec::new();
    for kind in &description.kinds {
        let example = Example::named(&example_name(route, kind))?;
        let schema = schemas.schema(kind.data);
        let name = if kind.name.is_empty() { "answer" } else { kind.name };
        let value = answers::answered(&example.data);
        let summary = format!("GET {}", example.request);
        answered.insert(name.to_owned(), json!({ "summary": summary, "value": value }));
        examples.add(schema.clone(), example.data.clone());
        data.push(schema);
        requests.push(example);
    }
    let data = match data.as_slice() {
        [only] => only.clone(),
        // Not oneOf: lists without entries are of several kinds.
        _ => json!({ "anyOf": data, "description": "What the mode asks for." }),
    };
    let mut responses = answers::shared(wants_key(route));
    responses.append(&mut answers::failures(&failures::of(route.function)));
    let is_fetched = !route.cache.is_zero();
    let schema = answers::success_envelope(&data);
    let success = answers::success(route.summary, &schema, &answered.into(), is_fetched);
    responses.insert("200".to_owned(), success);
    Ok(operation(route, parameters(description, schemas, &requests)?, responses))
}

/// The operation that gives the description itself.
pub(crate) fn of_the_description() -> Value {
    let schema = json!({
        "type": "object",
        "description": "An OpenAPI document, without an envelope. What it may hold is in the specification of OpenAPI.",
        "properties": {
            "openapi": {
                "type": "string",
                "const": OPENAPI_VERSION,
                "description": "The version of OpenAPI.",
                "examples": [OPENAPI_VERSION],
            },
        },
        "required": ["openapi", "info", "paths", "components"],
        "additionalProperties": true,
    });
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
    let mut responses = answers::shared(wants_key(&OPENAPI));
    responses.insert("200".to_owned(), answers::success(OPENAPI.summary, &schema, &examples, false));
    operation(&OPENAPI, Vec::new(), responses)
}

/// The example of a kind of answer.
fn example_name(route: &Route, kind: &Kind) -> String {
    if kind.name.is_empty() { route.function.to_owned() } else { format!("{}-{}", route.function, kind.name) }
}

/// Whether only who has a key gets an answer.
fn wants_key(route: &Route) -> bool {
    route.path.starts_with("/v1/")
}

fn operation(route: &Route, parameters: Vec<Value>, responses: Map<String, Value>) -> Value {
    let mut operation = Map::from_iter([
        ("operationId".to_owned(), operation_id(route).into()),
        ("summary".to_owned(), route.summary.into()),
        ("description".to_owned(), terms(route).into()),
        ("responses".to_owned(), responses.into()),
    ]);
    // For programs, among them the test of the template.
    if !route.cache.is_zero() {
        operation.insert("x-cache-seconds".to_owned(), route.cache.as_secs().into());
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), parameters.into());
    }
    if !wants_key(route) {
        operation.insert("security".to_owned(), json!([]));
    }
    operation.into()
}

/// Such as `getMayorHistory`.
fn operation_id(route: &Route) -> String {
    let name = if route.path == OPENAPI.path { "description" } else { route.function };
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_ascii_uppercase() + rest
    });
    format!("get{}", words.collect::<String>())
}

/// Whether a key is wanted, and how long an answer is kept.
fn terms(route: &Route) -> String {
    let key = if wants_key(route) { "Wants a key." } else { "Wants no key." };
    match route.cache.as_secs() {
        0 => format!("{key} Answers are not cached."),
        seconds => format!("{key} An answer is served again for {seconds} s."),
    }
}

fn parameters(
    description: &Description,
    schemas: &mut Schemas,
    requests: &[Example],
) -> Result<Vec<Value>, Error> {
    let route = description.route;
    let declared = route.parameters;
    if declared.len() != description.parameters.len() {
        return Err(Error::Parameters(route.path));
    }
    declared
        .iter()
        .map(|parameter| {
            let (_, of) = description
                .parameters
                .iter()
                .find(|(name, _)| *name == parameter.name)
                .ok_or(Error::Parameters(route.path))?;
            parameter_object(route, parameter, schemas.schema(*of), requests)
        })
        .collect()
}

fn parameter_object(
    route: &'static Route,
    parameter: &'static Parameter,
    schema: Value,
    requests: &[Example],
) -> Result<Value, Error> {
    let Parameter { name, location, required, description } = parameter;
    let mut examples = Map::new();
    for request in requests {
        if let Some(value) = request.value(route, parameter, &schema) {
            let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            examples.insert(example_key(&key), json!({ "value": value }));
        }
    }
    if examples.is_empty() {
        return Err(Error::NoValue { path: route.path, parameter: name });
    }
    let mut object = Map::from_iter([
        ("name".to_owned(), json!(name)),
        ("in".to_owned(), json!(location.name())),
        ("required".to_owned(), json!(*required || *location == Location::Path)),
        ("description".to_owned(), json!(format!("{description}."))),
        ("schema".to_owned(), schema),
    ]);
    object.insert("examples".to_owned(), examples.into());
    Ok(object.into())
}

/// The value as a name: what OpenAPI allows in one.
fn example_key(value: &str) -> String {
    value.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}
