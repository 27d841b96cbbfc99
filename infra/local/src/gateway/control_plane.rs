//! The control plane of API Gateway: the operations on API keys, as REST-JSON on the port of the Invoke API.
//! Signatures are not checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use jiff::civil::Date;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::api_keys::{ApiKey, ApiKeyError, ApiKeys};
use super::usage::Usage;
use crate::server::{self, Body, empty_response, json_response};

/// The first segments of its paths.
const RESOURCES: [&str; 2] = ["apikeys", "usageplans"];
/// Far more than any request needs.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// The entries of a page of `GetApiKeys`: the default, and the maximum.
const DEFAULT_LIMIT: usize = 25;
const MAX_LIMIT: usize = 500;
/// The only type of a key in a usage plan.
const KEY_TYPE: &str = "API_KEY";

type Outcome = Result<Response<Full<Bytes>>, ApiKeyError>;
type Query = BTreeMap<String, String>;

pub(crate) struct ControlPlane {
    pub(super) keys: Arc<ApiKeys>,
    pub(super) usage: Arc<Usage>,
}

#[derive(Deserialize)]
struct NewApiKey {
    #[serde(default)]
    name: String,
    /// On AWS, a missing value is generated.
    value: String,
    #[serde(default)]
    enabled: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewUsagePlanKey {
    key_id: String,
    key_type: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiKeyBody<'key> {
    id: &'key str,
    name: &'key str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'key str>,
    enabled: bool,
    /// In Unix seconds.
    created_date: i64,
    last_updated_date: i64,
}

impl<'key> ApiKeyBody<'key> {
    fn of(key: &'key ApiKey, with_value: bool) -> Self {
        let created_date = key.created_at_ms / 1000;
        Self {
            id: &key.id,
            name: &key.name,
            value: with_value.then_some(key.value.as_str()),
            enabled: key.enabled,
            created_date,
            last_updated_date: created_date,
        }
    }
}

impl ControlPlane {
    /// Whether requests for this path are for the control plane.
    pub(crate) fn has(path: &str) -> bool {
        path.split('/').nth(1).is_some_and(|collection| RESOURCES.contains(&collection))
    }

    pub(crate) async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = request.into_parts();
        let outcome = match server::read(body, MAX_BODY_BYTES).await {
            Body::Complete(body) => self.respond(&parts, &body),
            Body::TooLarge | Body::Incomplete => Err(invalid_body("it is too large or incomplete")),
        };
        outcome.unwrap_or_else(|error| refusal(&error))
    }

    fn respond(&self, parts: &Parts, body: &[u8]) -> Outcome {
        let decoded = parts.uri.path().split('/').skip(1);
        let decoded: Vec<_> =
            decoded.map(|segment| percent_decode_str(segment).decode_utf8_lossy()).collect();
        let segments: Vec<_> = decoded.iter().map(AsRef::as_ref).collect();
        let query = parts.uri.query().unwrap_or_default();
        let query: Query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        match (&parts.method, segments.as_slice()) {
            (&Method::POST, ["apikeys"]) => self.create_api_key(body),
            (&Method::GET, ["apikeys"]) => self.get_api_keys(&query),
            (&Method::DELETE, ["apikeys", id]) => self.delete_api_key(id),
            (&Method::POST, ["usageplans", plan, "keys"]) => self.create_usage_plan_key(plan, body),
            (&Method::GET, ["usageplans", plan, "usage"]) => self.get_usage(plan, &query),
            _ => Err(ApiKeyError::NotFound("the local cloud does not have this operation".to_owned())),
        }
    }

    fn create_api_key(&self, body: &[u8]) -> Outcome {
        let new: NewApiKey = parse(body)?;
        let key = self.keys.create(&new.name, &new.value, new.enabled)?;
        Ok(json_response(StatusCode::CREATED, &json!(ApiKeyBody::of(&key, true))))
    }

    fn get_api_keys(&self, query: &Query) -> Outcome {
        let limit = match query.get("limit") {
            None => DEFAULT_LIMIT,
            Some(text) => {
                text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
                    ApiKeyError::BadRequest(format!("limit must be 1 to {MAX_LIMIT}, not {text:?}"))
                })?
            }
        };
        let prefix = query.get("name").map_or("", String::as_str);
        let with_values = query.get("includeValues").is_some_and(|text| text == "true");
        let (page, next) = self.keys.page(prefix, query.get("position").map(String::as_str), limit);
        let items: Vec<_> = page.iter().map(|key| ApiKeyBody::of(key, with_values)).collect();
        // The SDKs call this list `items`.
        let body = match next {
            Some(position) => json!({"item": items, "position": position}),
            None => json!({"item": items}),
        };
        Ok(json_response(StatusCode::OK, &body))
    }

    /// Deletes a key and its counts: on AWS, a later key with the same value has another id.
    fn delete_api_key(&self, id: &str) -> Outcome {
        let deleted = self.keys.delete(id)?;
        self.usage.forget(&deleted.value);
        Ok(empty_response(StatusCode::ACCEPTED))
    }

    fn create_usage_plan_key(&self, plan: &str, body: &[u8]) -> Outcome {
        let new: NewUsagePlanKey = parse(body)?;
        if new.key_type != KEY_TYPE {
            return Err(ApiKeyError::BadRequest(format!(
                "keyType must be {KEY_TYPE}, not {:?}",
                new.key_type
            )));
        }
        let ApiKey { id, name, value, .. } = self.keys.attach_to_plan(plan, &new.key_id)?;
        let body = json!({"id": id, "type": KEY_TYPE, "value": value, "name": name});
        Ok(json_response(StatusCode::CREATED, &body))
    }

    /// Returns a pair for each day of the range, for one key or for all keys of the plan: the requests of the
    /// day, and the rest of the quota at its end.
    ///
    /// The field of the response is `values` (API reference, and captured responses); only the SDKs call it
    /// `items`. It is a map by key id. AWS does not document three cases. Here, a key without requests in the
    /// range is left out, a plan without a quota has the rest 0, and a response has only one page.
    fn get_usage(&self, plan: &str, query: &Query) -> Outcome {
        self.keys.check_plan(plan)?;
        let first = date(query, "startDate")?;
        let last = date(query, "endDate")?;
        if last < first {
            return Err(ApiKeyError::BadRequest(format!("endDate {last} is before startDate {first}")));
        }
        let keys = match query.get("keyId") {
            Some(id) => vec![self.keys.get(id)?],
            None => self.keys.of_plan(plan),
        };
        let of_key = |key: &ApiKey| Some((key.id.clone(), self.usage.by_day(plan, &key.value, first, last)?));
        let values: BTreeMap<_, _> = keys.iter().filter_map(of_key).collect();
        let body = json!({
            "usagePlanId": plan,
            "startDate": first.to_string(),
            "endDate": last.to_string(),
            "values": values,
        });
        Ok(json_response(StatusCode::OK, &body))
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiKeyError> {
    serde_json::from_slice(body).map_err(|reason| invalid_body(&reason.to_string()))
}

fn invalid_body(reason: &str) -> ApiKeyError {
    ApiKeyError::BadRequest(format!("Invalid request body: {reason}"))
}

fn date(query: &Query, name: &str) -> Result<Date, ApiKeyError> {
    let text = query.get(name).map_or("", String::as_str);
    let invalid =
        |_| ApiKeyError::BadRequest(format!("{name} must be a date such as 2026-12-31, not {text:?}"));
    Date::strptime("%Y-%m-%d", text).map_err(invalid)
}

fn refusal(error: &ApiKeyError) -> Response<Full<Bytes>> {
    let (status, error_type) = match error {
        ApiKeyError::BadRequest(_) => (StatusCode::BAD_REQUEST, "BadRequestException"),
        ApiKeyError::Conflict(_) => (StatusCode::CONFLICT, "ConflictException"),
        ApiKeyError::NotFound(_) => (StatusCode::NOT_FOUND, "NotFoundException"),
    };
    let mut response = json_response(status, &json!({"message": error.to_string()}));
    response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(error_type));
    response
}
