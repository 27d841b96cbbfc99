//! The envelopes, and the errors that every route can give.

use common::envelope::API_VERSION;
use common::error::{Code, INTERNAL_MESSAGE};
use serde_json::{Map, Value, json};

use crate::failures::Failure;
use crate::schemas::PLACE;

/// The name of the security scheme.
pub(crate) const SECURITY_SCHEME: &str = "ApiKey";

/// The name of the schema of `meta`.
const META: &str = "Meta";

const JSON: &str = "application/json";

/// An error of the gateway's own. Its texts are in the template, where a test looks for them.
struct OfTheGateway {
    name: &'static str,
    message: &'static str,
}

/// An error that every route with a key, or every route, can give.
struct Shared {
    name: &'static str,
    code: &'static str,
    status: u16,
    description: &'static str,
    /// Whether `Retry-After` comes with it.
    retry_after: bool,
    messages: &'static [OfTheGateway],
}

const UNAUTHORIZED: Shared = Shared {
    name: "Unauthorized",
    code: "UNAUTHORIZED",
    status: 401,
    description: "There is no key, it is malformed, unknown or revoked, or it is new and not active yet. Check the header; \
        with a new key wait a minute.",
    retry_after: false,
    messages: &[
        OfTheGateway {
            name: "no_valid_key",
            message: "A valid API key is required in the header X-API-Key. Get one at https://dashboard.example.",
        },
        OfTheGateway {
            name: "not_active_yet",
            message: "This API key is not active yet: a new key takes about a minute. If it lasts, get help at \
                https://dashboard.example.",
        },
    ],
};

const FORBIDDEN: Shared = Shared {
    name: "Forbidden",
    code: "FORBIDDEN",
    status: 403,
    description: "The key is good, and its account has no active paid subscription.",
    retry_after: false,
    messages: &[OfTheGateway {
        name: "no_subscription",
        message: "This API key is valid, but its account has no active paid subscription. Subscribe to starter or pro at \
            https://dashboard.example; it counts within a minute or so.",
    }],
};

const RATE_LIMITED: Shared = Shared {
    name: "RateLimited",
    code: "RATE_LIMITED",
    status: 429,
    description: "More requests than the key's tier allows, or than the route takes of all callers together. Wait for the \
        seconds in `Retry-After`, then ask more slowly.",
    retry_after: true,
    messages: &[OfTheGateway {
        name: "throttled",
        message: "Too many requests: the rate of your subscription, or what the route takes of all callers together, is \
            used up. Wait as long as Retry-After says.",
    }],
};

const INTERNAL_ERROR: Shared = Shared {
    name: "InternalError",
    code: "INTERNAL_ERROR",
    status: 500,
    description: "The game's provider or a part of the service failed. Wait for the seconds in `Retry-After`, then try \
        again, a few times and ever more slowly.",
    retry_after: true,
    messages: &[
        OfTheGateway { name: "failed", message: INTERNAL_MESSAGE },
        OfTheGateway {
            name: "no_answer",
            message: "The service could not answer this request. Please try again later.",
        },
        OfTheGateway {
            name: "key_not_checked",
            message: "Your API key could not be checked. Please try again later.",
        },
    ],
};

/// Routes with parameters have a 400 of their own instead.
const REFUSED: Shared = Shared {
    name: "Refused",
    code: "BAD_REQUEST",
    status: 400,
    description: "The gateway does not let the request through: it is too large, or is no HTTP that the gateway \
        understands. The same request fails the same way.",
    retry_after: false,
    messages: &[OfTheGateway {
        name: "too_large",
        message: "The request is too large. Send it without a body: this service reads none.",
    }],
};

const SHARED: [&Shared; 5] = [&REFUSED, &UNAUTHORIZED, &FORBIDDEN, &RATE_LIMITED, &INTERNAL_ERROR];

/// What is said of a 400 and of a 404; what gives them differs from route to route.
const OF_ROUTES: [(&str, Code, &str); 2] = [
    (
        "BadRequest",
        Code::BadRequest,
        "A parameter is missing or not allowed, and the message names it and what is allowed; or the gateway does not let \
         the request through. The same request fails the same way.",
    ),
    (
        "NotFound",
        Code::NotFound,
        "There is no such item, page or player. Asking again before the route's time is over gives the same.",
    ),
];

/// The security scheme.
pub(crate) fn security_schemes() -> Value {
    json!({
        SECURITY_SCHEME: {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "A key of an account with an active paid subscription: `gd_` and 38 letters and digits. Two keys \
                in one request count as none.",
        },
    })
}

/// The headers that answers have.
pub(crate) fn headers() -> Value {
    json!({
        "LastModified": {
            "description": "When the data was fetched, as an HTTP date.",
            "required": true,
            "schema": { "type": "string" },
            "example": "Sat, 21 Nov 2026 15:44:58 GMT",
        },
        "Expires": {
            "description": "When the answer stops being fresh, as an HTTP date: the route's time later than `Last-Modified`.",
            "required": true,
            "schema": { "type": "string" },
            "example": "Sat, 21 Nov 2026 15:49:58 GMT",
        },
        "RetryAfter": {
            "description": "After how many seconds to ask again.",
            "required": true,
            "schema": { "type": "integer", "minimum": 1 },
            "example": 5,
        },
        "AllowOrigin": {
            "description": "Scripts of every origin may read the answer.",
            "required": true,
            "schema": { "type": "string", "const": "*" },
            "example": "*",
        },
    })
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// Adds the schemas of the envelopes' own parts.
pub(crate) fn add_schemas(schemas: &mut Map<String, Value>) {
    let meta = json!({
        "type": "object",
        "description": "About the answer.",
        "properties": {
            "cached": {
                "type": "boolean",
                "description": "Whether the answer comes from or through a cache. `false` promises that it was fetched for \
                    this request.",
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
    for (name, code, description) in OF_ROUTES {
        let message = match code {
            Code::NotFound => {
                "There is no auctions page 9999. Page 0 says in 'totalPages' how many there are."
            }
            _ => "Parameter 'limit' must be a whole number from 1 to 100, but was '0'.",
        };
        schemas.insert(name.to_owned(), error_envelope(code.name(), description, message));
    }
    for Shared { name, code, description, messages, .. } in SHARED {
        let message = messages.first().map_or("", |example| example.message);
        schemas.insert((*name).to_owned(), error_envelope(code, description, message));
    }
}

/// The `meta` of examples.
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
                "description": "That there is no answer.",
                "examples": [false],
            },
            "error": {
                "type": "object",
                "description": "Why.",
                "properties": {
                    "code": {
                        "type": "string",
                        "enum": [code],
                        "description": "The kind of error, for programs. It goes with the status.",
                        "examples": [code],
                    },
                    "message": {
                        "type": "string",
                        "description": "What was wrong and what to do, for people. The wording may change.",
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

/// The success envelope around `data`, given as a schema.
pub(crate) fn success_envelope(data: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "success": {
                "type": "boolean",
                "const": true,
                "description": "That this is an answer.",
                "examples": [true],
            },
            "data": data,
            "meta": { "$ref": format!("{PLACE}{META}"), "description": "About the answer." },
        },
        "required": ["success", "data", "meta"],
    })
}

/// An example of the success envelope.
pub(crate) fn answered(data: &Value) -> Value {
    json!({ "success": true, "data": data, "meta": meta() })
}

/// A response with status 200.
pub(crate) fn success(description: &str, schema: &Value, examples: &Value, is_fetched: bool) -> Value {
    let mut headers = Map::from_iter([("Access-Control-Allow-Origin".to_owned(), header("AllowOrigin"))]);
    if is_fetched {
        headers.insert("Last-Modified".to_owned(), header("LastModified"));
        headers.insert("Expires".to_owned(), header("Expires"));
    }
    json!({
        "description": description,
        "headers": headers,
        "content": { JSON: { "schema": schema, "examples": examples } },
    })
}

/// The responses with a 400 and a 404 that come of these failures, by status.
pub(crate) fn failures(failures: &[Failure]) -> Map<String, Value> {
    let mut responses = Map::new();
    for (name, code, description) in OF_ROUTES {
        let of_this_code = failures.iter().filter(|failure| failure.code == code);
        let examples: Map<String, Value> = of_this_code
            .map(|Failure { name, request, message, .. }| {
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
        "content": { JSON: { "schema": { "$ref": format!("{PLACE}{schema}") }, "examples": examples } },
    })
}

/// The responses that several routes share.
pub(crate) fn shared_failures() -> Map<String, Value> {
    SHARED
        .into_iter()
        .map(|Shared { name, code, description, retry_after, messages, .. }| {
            let examples = messages
                .iter()
                .map(|OfTheGateway { name, message }| {
                    ((*name).to_owned(), json!({ "value": failed(code, message) }))
                })
                .collect();
            ((*name).to_owned(), failure(name, description, *retry_after, &examples))
        })
        .collect()
}

/// References to the shared responses that a route can give, by status: those about keys only where one is wanted.
pub(crate) fn shared(wants_key: bool) -> Map<String, Value> {
    SHARED
        .into_iter()
        .filter(|shared| wants_key || !matches!(shared.status, 401 | 403))
        .map(|Shared { name, status, .. }| {
            (status.to_string(), json!({ "$ref": format!("#/components/responses/{name}") }))
        })
        .collect()
}
