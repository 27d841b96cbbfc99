//! Responses: the two envelopes, and the errors that every route can return.

use common::description::Describe;
use common::error::{Code, INTERNAL_MESSAGE};
use common::response::envelope::API_VERSION;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::examples::{FailedRequest, failed_requests};
use crate::schemas::SCHEMA_PREFIX;

pub(crate) const SECURITY_SCHEME: &str = "ApiKey";

/// The name of the schema of `meta`.
const META: &str = "Meta";

const JSON: &str = "application/json";

/// An example message. The gateway's messages are also in `template.yaml`, and a test compares them with
/// these.
struct Message {
    name: &'static str,
    message: &'static str,
}

/// An error that every route can return, or every route that requires a key.
struct SharedError {
    name: &'static str,
    code: &'static str,
    status: u16,
    description: &'static str,
    retry_after: bool,
    messages: &'static [Message],
}

const UNAUTHORIZED: SharedError = SharedError {
    name: "Unauthorized",
    code: "UNAUTHORIZED",
    status: 401,
    description: "The API key is missing, malformed, unknown or revoked, or its account is new and not active yet. Check the header; with a \
        new account, wait up to two minutes.",
    retry_after: false,
    messages: &[
        Message {
            name: "no_valid_key",
            message: "A valid API key is required in the header X-API-Key. Get one at https://dashboard.example.",
        },
        Message {
            name: "not_active_yet",
            message: "The account of this API key is not active yet: a new account takes up to two minutes. If it lasts, get help at \
                https://dashboard.example.",
        },
    ],
};

const FORBIDDEN: SharedError = SharedError {
    name: "Forbidden",
    code: "FORBIDDEN",
    status: 403,
    description: "The API key is valid, but its account has no active paid subscription.",
    retry_after: false,
    messages: &[Message {
        name: "no_subscription",
        message: "This API key is valid, but its account has no active paid subscription. Subscribe to starter or pro at \
            https://dashboard.example; it counts within a minute or so.",
    }],
};

const RATE_LIMITED: SharedError = SharedError {
    name: "RateLimited",
    code: "RATE_LIMITED",
    status: 429,
    description: "A limit is exceeded: the account's rate, its rate for profiles or for `/v1/usage`, its monthly quota, or the route's rate for \
        all clients together. Wait for the seconds in `Retry-After`, then send requests more slowly.",
    retry_after: true,
    messages: &[
        Message {
            name: "throttled",
            message: "Too many requests: the rate of your account, or the rate of the route for all clients together, is used up. \
                Wait for the seconds in Retry-After.",
        },
        Message {
            name: "quota_exceeded",
            message: "Too many requests: the monthly quota of your account is used up. It begins again on the first day of the month \
                (UTC).",
        },
    ],
};

const INTERNAL_ERROR: SharedError = SharedError {
    name: "InternalError",
    code: "INTERNAL_ERROR",
    status: 500,
    description: "The game's provider or a part of the service failed. Wait for the seconds in `Retry-After`, then retry a few \
        times with increasing pauses.",
    retry_after: true,
    messages: &[
        Message { name: "failed", message: INTERNAL_MESSAGE },
        Message {
            name: "no_answer",
            message: "The service could not answer this request. Please try again later.",
        },
        Message {
            name: "key_not_checked",
            message: "Your API key could not be checked. Please try again later.",
        },
    ],
};

/// The 400 of routes without parameters.
const REFUSED: SharedError = SharedError {
    name: "Refused",
    code: "BAD_REQUEST",
    status: 400,
    description: "The gateway rejects the request: it is too large, or the gateway cannot parse it. Fix it before you \
        retry.",
    retry_after: false,
    messages: &[Message {
        name: "too_large",
        message: "The request is too large. Send it without a body: this service reads none.",
    }],
};

const SHARED: [&SharedError; 5] = [&REFUSED, &UNAUTHORIZED, &FORBIDDEN, &RATE_LIMITED, &INTERNAL_ERROR];

/// The 400 and the 404 of routes with parameters. Their examples differ from route to route.
const OF_ROUTES: [(&str, Code, &str); 2] = [
    (
        "BadRequest",
        Code::BadRequest,
        "A parameter is missing or not allowed: the message names it and the allowed values. Or the gateway rejects the request. Fix \
         it before you retry.",
    ),
    (
        "NotFound",
        Code::NotFound,
        "The item, page or player does not exist, or the interval has no candles or is not complete yet. A retry returns the same until \
         it expires.",
    ),
];

pub(crate) fn security_schemes() -> Value {
    json!({
        SECURITY_SCHEME: {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "The key of an account with an active paid subscription: `gd_` and 38 letters and digits. A request \
                with two of these headers gets a 401.",
        },
    })
}

pub(crate) fn headers() -> Value {
    json!({
        "LastModified": {
            "description": "When the data was fetched, or known to be the provider's latest, minus the `Age` of the provider's copy, as an HTTP date.",
            "required": true,
            "schema": { "type": "string" },
            "example": "Sat, 21 Nov 2026 15:44:58 GMT",
        },
        "Expires": {
            "description": "When the response expires, as an HTTP date: the time of the fetch plus the TTL of the route.",
            "required": true,
            "schema": { "type": "string" },
            "example": "Sat, 21 Nov 2026 15:49:58 GMT",
        },
        "RetryAfter": {
            "description": "The seconds to wait before the next request.",
            "required": true,
            "schema": { "type": "integer", "minimum": 1 },
            "example": 5,
        },
        "AllowOrigin": {
            "description": "Scripts of every origin may read the response.",
            "required": true,
            "schema": { "type": "string", "const": "*" },
            "example": "*",
        },
    })
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// Adds the schemas of the parts of envelopes.
///
/// # Errors
/// If the failures of a route cannot be built.
pub(crate) fn add_schemas(schemas: &mut Map<String, Value>) -> Result<(), Error> {
    let meta = json!({
        "type": "object",
        "description": "Metadata of the response.",
        "properties": {
            "cached": {
                "type": "boolean",
                "description": "Whether the response may come from a cache. `false` guarantees that the data was fetched for this \
                    request.",
                "examples": [false],
            },
            "api_version": {
                "type": "string",
                "const": API_VERSION,
                "description": "The version of the contract.",
                "examples": [API_VERSION],
            },
        },
        "required": ["cached", "api_version"],
        "examples": [meta()],
    });
    schemas.insert(META.to_owned(), meta);
    // The examples are from the route of auctions, which has both a 400 and a 404.
    let failures = failed_requests(&auctions::Auctions::description())?;
    for (name, code, description) in OF_ROUTES {
        let failure = failures.iter().find(|failure| failure.code == code);
        let message = failure.map_or("", |failure| &failure.message);
        schemas.insert(name.to_owned(), error_envelope(code.name(), description, message));
    }
    for SharedError { name, code, description, messages, .. } in SHARED {
        let message = messages.first().map_or("", |example| example.message);
        schemas.insert((*name).to_owned(), error_envelope(code, description, message));
    }
    Ok(())
}

fn meta() -> Value {
    json!({ "cached": false, "api_version": API_VERSION })
}

fn error_envelope(code: &str, description: &str, message: &str) -> Value {
    let error = json!({ "code": code, "message": message });
    json!({
        "type": "object",
        "description": description,
        "properties": {
            "success": {
                "type": "boolean",
                "const": false,
                "description": "Always `false` in an error.",
                "examples": [false],
            },
            "error": {
                "type": "object",
                "description": "The error.",
                "properties": {
                    "code": {
                        "type": "string",
                        "const": code,
                        "description": "The kind of error, for programs. Each code has one status.",
                        "examples": [code],
                    },
                    "message": {
                        "type": "string",
                        "description": "The problem and the remedy, for people. The wording may change.",
                        "examples": [message],
                    },
                },
                "required": ["code", "message"],
                "examples": [error],
            },
        },
        "required": ["success", "error"],
        "examples": [failed(code, message)],
    })
}

fn failed(code: &str, message: &str) -> Value {
    json!({ "success": false, "error": { "code": code, "message": message } })
}

/// Returns the schema of the success envelope of a path around the schema `data`.
pub(crate) fn success_envelope(path: &str, data: &Value) -> Value {
    json!({
        "type": "object",
        "description": format!("The response of `GET {path}`."),
        "properties": {
            "success": {
                "type": "boolean",
                "const": true,
                "description": "Always `true` in a success.",
                "examples": [true],
            },
            "data": data,
            "meta": { "$ref": format!("{SCHEMA_PREFIX}{META}"), "description": "Metadata of the response." },
        },
        "required": ["success", "data", "meta"],
    })
}

pub(crate) fn success_example(data: &Value) -> Value {
    json!({ "success": true, "data": data, "meta": meta() })
}

/// Returns a response with status 200. `csv` is an example of the response as CSV, for routes that have it.
pub(crate) fn success(
    description: &str,
    schema: &Value,
    examples: &Value,
    csv: Option<&str>,
    is_fetched: bool,
) -> Value {
    let mut headers = Map::from_iter([("Access-Control-Allow-Origin".to_owned(), header("AllowOrigin"))]);
    if is_fetched {
        headers.insert("Last-Modified".to_owned(), header("LastModified"));
        headers.insert("Expires".to_owned(), header("Expires"));
    }
    let json = (JSON.to_owned(), json!({ "schema": schema, "examples": examples }));
    let text = csv.map(|example| ("text/csv".to_owned(), of_csv(example)));
    let content: Map<String, Value> = std::iter::once(json).chain(text).collect();
    json!({ "description": description, "headers": headers, "content": content })
}

fn of_csv(example: &str) -> Value {
    json!({
        "schema": {
            "type": "string",
            "description": "With `format=csv`: a header line and one line per entry, with the fields of the JSON in the same order. \
                `null` is empty.",
        },
        "example": example,
    })
}

/// Returns the 400 and the 404, by status, with these failures as examples.
pub(crate) fn failures(failures: &[FailedRequest]) -> Map<String, Value> {
    let mut responses = Map::new();
    for (name, code, description) in OF_ROUTES {
        let of_this_code = failures.iter().filter(|failure| failure.code == code);
        let examples: Map<String, Value> = of_this_code
            .map(|FailedRequest { name, request, message, .. }| {
                let value = failed(code.name(), message);
                ((*name).to_owned(), json!({ "summary": format!("GET {request}"), "value": value }))
            })
            .collect();
        if !examples.is_empty() {
            responses.insert(code.status().as_str().to_owned(), failure(name, description, false, &examples));
        }
    }
    responses
}

fn failure(schema: &str, description: &str, retry_after: bool, examples: &Map<String, Value>) -> Value {
    let mut headers = Map::from_iter([("Access-Control-Allow-Origin".to_owned(), header("AllowOrigin"))]);
    if retry_after {
        headers.insert("Retry-After".to_owned(), header("RetryAfter"));
    }
    json!({
        "description": description,
        "headers": headers,
        "content": { JSON: { "schema": { "$ref": format!("{SCHEMA_PREFIX}{schema}") }, "examples": examples } },
    })
}

/// Returns the responses that several routes share.
pub(crate) fn shared_failures() -> Map<String, Value> {
    SHARED
        .into_iter()
        .map(|SharedError { name, code, description, retry_after, messages, .. }| {
            let examples = messages
                .iter()
                .map(|Message { name, message }| {
                    ((*name).to_owned(), json!({ "value": failed(code, message) }))
                })
                .collect();
            ((*name).to_owned(), failure(name, description, *retry_after, &examples))
        })
        .collect()
}

/// Returns references to the shared responses of a route, by status: 401 and 403 only if it requires a key.
pub(crate) fn shared(requires_key: bool) -> Map<String, Value> {
    SHARED
        .into_iter()
        .filter(|shared| requires_key || !matches!(shared.status, 401 | 403))
        .map(|SharedError { name, status, .. }| {
            (status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }))
        })
        .collect()
}
