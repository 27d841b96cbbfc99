//! The gateway's own answers: what it says when no function does. The template writes them, with variables of the request.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::authorizer::Permit;
use super::event::{self, Arrival};
use super::response::set;
use crate::template::GatewayResponse;

/// Why the gateway answers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayError {
    /// The function failed, or what it answered is no proxy response.
    IntegrationFailure,
    /// It took longer than the gateway waits.
    IntegrationTimeout,
    /// Neither path nor method is known.
    MissingAuthenticationToken,
    /// Nobody knows who asks.
    Unauthorized,
    /// Who asks is known, and may not.
    AccessDenied,
    /// The authorizer did not say who may ask.
    AuthorizerFailure,
    /// No usage plan has the key.
    InvalidApiKey,
    /// The key's rate is used up.
    Throttled,
    /// The body breaks off, or is not framed as HTTP wants it.
    BadRequestBody,
    /// The body is larger than the gateway or Lambda take.
    RequestTooLarge,
}

/// What a response can say about the request. Values are put in as they are: the template must know that nothing is
/// escaped.
pub(super) struct Variables<'request> {
    pub(super) arrival: &'request Arrival<'request>,
    /// The path of the route, as the template has it.
    pub(super) resource_path: Option<&'request str>,
    /// What the authorizer said.
    pub(super) permit: Option<&'request Permit>,
}

impl GatewayError {
    /// The response type in the template, and AWS's own status and message.
    fn description(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::IntegrationFailure => {
                ("INTEGRATION_FAILURE", StatusCode::BAD_GATEWAY, "Internal server error")
            }
            Self::IntegrationTimeout => {
                ("INTEGRATION_TIMEOUT", StatusCode::GATEWAY_TIMEOUT, "Endpoint request timed out")
            }
            Self::MissingAuthenticationToken => {
                ("MISSING_AUTHENTICATION_TOKEN", StatusCode::FORBIDDEN, "Missing Authentication Token")
            }
            Self::Unauthorized => ("UNAUTHORIZED", StatusCode::UNAUTHORIZED, "Unauthorized"),
            Self::AccessDenied => {
                ("ACCESS_DENIED", StatusCode::FORBIDDEN, "User is not authorized to access this resource")
            }
            Self::AuthorizerFailure => {
                ("AUTHORIZER_FAILURE", StatusCode::INTERNAL_SERVER_ERROR, "Internal server error")
            }
            Self::InvalidApiKey => ("INVALID_API_KEY", StatusCode::FORBIDDEN, "Forbidden"),
            Self::Throttled => ("THROTTLED", StatusCode::TOO_MANY_REQUESTS, "Too Many Requests"),
            Self::BadRequestBody => ("BAD_REQUEST_BODY", StatusCode::BAD_REQUEST, "Invalid request body"),
            Self::RequestTooLarge => ("REQUEST_TOO_LARGE", StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long"),
        }
    }

    /// The gateway's answer, as far as the template has a say in it.
    pub(super) fn response(
        self,
        templates: &BTreeMap<String, GatewayResponse>,
        variables: &Variables<'_>,
    ) -> Response<Bytes> {
        let (kind, status, message) = self.description();
        let fallback = if status.is_client_error() { "DEFAULT_4XX" } else { "DEFAULT_5XX" };
        let template = templates.get(kind).or_else(|| templates.get(fallback));
        let body = match template.and_then(|template| template.body.as_deref()) {
            Some(body) => rendered(body, |name| self.value(name, variables)),
            None => serde_json::json!({"message": message}).to_string(),
        };
        let mut response = Response::new(Bytes::from(body));
        let own_status = template.and_then(|template| template.status);
        *response.status_mut() = own_status.and_then(|own| StatusCode::from_u16(own).ok()).unwrap_or(status);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in template.iter().flat_map(|template| &template.headers) {
            set(&mut response, name, value);
        }
        response
    }

    /// The value of `$context.NAME`; what is not known here is empty, as on AWS.
    fn value(self, name: &str, variables: &Variables<'_>) -> String {
        let Variables { arrival, resource_path, permit } = variables;
        let (kind, _, message) = self.description();
        if let (Some(name), Some(permit)) = (name.strip_prefix("authorizer."), permit) {
            return match name {
                "principalId" => permit.principal_id.clone(),
                name => permit.context.get(name).cloned().unwrap_or_default(),
            };
        }
        match name {
            "requestId" => arrival.request_id.to_string(),
            "extendedRequestId" => event::extended_request_id(arrival),
            "requestTime" => event::request_time(arrival.now_ms),
            "requestTimeEpoch" => arrival.now_ms.to_string(),
            "accountId" => crate::ACCOUNT_ID.to_owned(),
            "apiId" => event::API_ID.to_owned(),
            "domainName" => event::DOMAIN.to_owned(),
            "stage" => arrival.stage.to_owned(),
            "protocol" => event::PROTOCOL.to_owned(),
            "httpMethod" => arrival.request.method.to_string(),
            "path" => event::path_with_stage(arrival),
            "resourcePath" => resource_path.unwrap_or_default().to_owned(),
            "identity.sourceIp" => arrival.peer.ip().to_string(),
            "error.message" => message.to_owned(),
            "error.messageString" => format!("\"{message}\""),
            "error.responseType" => kind.to_owned(),
            _ => String::new(),
        }
    }
}

/// The text with `$context.NAME` replaced by what `value` says of the name.
fn rendered(text: &str, value: impl Fn(&str) -> String) -> String {
    const VARIABLE: &str = "$context.";
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(VARIABLE) {
        result.push_str(before);
        let end = after
            .find(|character: char| {
                !character.is_ascii_alphanumeric() && !matches!(character, '.' | '_' | '-')
            })
            .unwrap_or(after.len());
        // A sentence may end after a variable.
        let name = after.get(..end).unwrap_or_default().trim_end_matches(['.', '-']);
        result.push_str(&value(name));
        rest = after.get(name.len()..).unwrap_or_default();
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn answered(error: GatewayError, templates: &BTreeMap<String, GatewayResponse>) -> Response<Bytes> {
        let (request, ()) = Request::get("/v1/mayor?a=1").body(()).unwrap().into_parts();
        let permit = Permit::for_tests(Some("pro"), None);
        let variables = Variables {
            arrival: &Arrival::for_tests(&request),
            resource_path: Some("/v1/mayor"),
            permit: Some(&permit),
        };
        error.response(templates, &variables)
    }

    fn written(kind: &str, status: Option<u16>, body: &str) -> BTreeMap<String, GatewayResponse> {
        let headers = BTreeMap::from([("Retry-After".to_owned(), "5".to_owned())]);
        let response = GatewayResponse { status, headers, body: Some(body.to_owned()) };
        BTreeMap::from([(kind.to_owned(), response)])
    }

    #[test]
    fn the_template_writes_the_gateways_own_answers() {
        let templates = written("DEFAULT_5XX", Some(500), "{\"success\":false}");
        let response = answered(GatewayError::IntegrationFailure, &templates);
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()["retry-after"], "5");
        assert_eq!(response.body(), "{\"success\":false}");

        let response = answered(GatewayError::MissingAuthenticationToken, &templates);
        assert_eq!(response.status(), 403);
        assert_eq!(response.body(), "{\"message\":\"Missing Authentication Token\"}");
    }

    #[test]
    fn every_error_has_a_type_of_its_own_and_one_that_stands_in_for_it() {
        for (error, kind, status) in [
            (GatewayError::Unauthorized, "UNAUTHORIZED", 401),
            (GatewayError::AccessDenied, "ACCESS_DENIED", 403),
            (GatewayError::AuthorizerFailure, "AUTHORIZER_FAILURE", 500),
            (GatewayError::InvalidApiKey, "INVALID_API_KEY", 403),
            (GatewayError::Throttled, "THROTTLED", 429),
            (GatewayError::BadRequestBody, "BAD_REQUEST_BODY", 400),
            (GatewayError::RequestTooLarge, "REQUEST_TOO_LARGE", 413),
            (GatewayError::IntegrationFailure, "INTEGRATION_FAILURE", 502),
            (GatewayError::IntegrationTimeout, "INTEGRATION_TIMEOUT", 504),
        ] {
            let own = answered(error, &written(kind, None, "own"));
            assert_eq!((own.status().as_u16(), own.body().as_ref()), (status, &b"own"[..]), "{kind}");
            let fallback = if status < 500 { "DEFAULT_4XX" } else { "DEFAULT_5XX" };
            let general = answered(error, &written(fallback, None, "general"));
            assert_eq!(
                (general.status().as_u16(), general.body().as_ref()),
                (status, &b"general"[..]),
                "{kind}"
            );
            let changed = answered(error, &written(kind, Some(418), "own"));
            assert_eq!(changed.status(), 418);
        }
    }

    #[test]
    fn variables_are_filled_in_and_unknown_ones_are_empty() {
        let text = "$context.stage|$context.error.responseType|$context.error.messageString|\
                    $context.resourcePath|$context.path|$context.authorizer.tier|$context.authorizer.other|\
                    $context.unknown|$context.identity.sourceIp.|$context.httpMethod-|$context|$context.";
        let response = answered(GatewayError::AccessDenied, &written("ACCESS_DENIED", None, text));
        let expected = "live|ACCESS_DENIED|\"User is not authorized to access this resource\"|/v1/mayor|\
                        /live/v1/mayor|pro|||127.0.0.1.|GET-|$context|";
        assert_eq!(response.body(), expected);
        let response = answered(GatewayError::Throttled, &written("THROTTLED", None, "$context.requestId"));
        assert_eq!(response.body().len(), 36);
    }
}
