//! A request as API Gateway passes it on (REST proxy event, version 1.0), reduced to what a handler may read.
//!
//! `lambda_http` can build an `http::Request` from such an event, but it parses every header and fails if one is invalid. No
//! route reads headers, so an invalid one must not matter. This module therefore reads only the fields that it needs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use crate::error::ApiError;
use crate::excerpt::Excerpt;
use crate::invocation::Invocation;
use crate::params::{InvalidValue, Value};
use crate::routes::{Location, Parameter, Route};
use crate::time::UnixMilliseconds;

/// The fields of a proxy event that the service reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyEvent {
    resource: String,
    http_method: String,
    path: String,
    query_string_parameters: Option<HashMap<String, String>>,
    multi_value_query_string_parameters: Option<HashMap<String, Vec<String>>>,
    /// As the client wrote them: the gateway decodes the query, but not the path.
    path_parameters: Option<HashMap<String, String>>,
    request_context: RequestContext,
}

/// The part of every gateway event that describes the request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    request_time_epoch: Option<i64>,
}

impl RequestContext {
    /// Returns when the gateway received the request, or the time of the system clock if the event does not say.
    #[must_use]
    pub fn time(&self) -> UnixMilliseconds {
        let given = self.request_time_epoch;
        given.map_or_else(UnixMilliseconds::of_system_clock, UnixMilliseconds::from_request_time)
    }
}

impl ProxyEvent {
    /// Returns when the gateway received the request, or the time of the system clock if the event does not say.
    #[must_use]
    pub fn time(&self) -> UnixMilliseconds {
        self.request_context.time()
    }
}

/// A request to one route.
#[derive(Debug)]
pub struct Request {
    event: ProxyEvent,
    route: &'static Route,
    invocation: Invocation,
}

impl Request {
    /// The request in `event` to the route `route`.
    #[must_use]
    pub const fn new(event: ProxyEvent, route: &'static Route, invocation: Invocation) -> Self {
        Self { event, route, invocation }
    }

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.event.http_method
    }

    /// The path of the template that the request matched, parameters in braces. Unlike the path, it does not depend on the
    /// stage and the domain.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.event.resource
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.event.path
    }

    /// The invocation that handles this request.
    #[must_use]
    pub const fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// Returns the parameter `name`, or its default if it is absent.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is not allowed.
    pub fn parameter<T: Value + Default>(&self, name: &str) -> Result<T, ApiError> {
        let declared = self.declared::<T>(name)?;
        self.text(declared)?.map_or_else(|| Ok(T::default()), |text| parse(name, &text))
    }

    /// Returns the parameter `name`, which is required. `condition` follows "is required" in the error, such as
    /// " with mode=item".
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is missing or not allowed.
    pub fn required<T: Value>(&self, name: &str, condition: &str) -> Result<T, ApiError> {
        let declared = self.declared::<T>(name)?;
        let text = self.text(declared)?.filter(|text| !text.is_empty());
        parse(name, &text.ok_or_else(|| missing_parameter(name, condition))?)
    }

    /// Only a declared parameter is part of the cache key. The response to another one would reach clients with another
    /// value. The table of routes also says what is allowed, so its type must be the one that is parsed.
    fn declared<T: Value>(&self, name: &str) -> Result<&'static Parameter, ApiError> {
        let declared = self.route.parameter(name).filter(|declared| declared.allowed == T::ALLOWED);
        declared
            .ok_or_else(|| ApiError::internal(format!("parameter '{name}' is not declared with this type")))
    }

    /// Returns the decoded value of the parameter; the last one if it repeats.
    fn text(&self, parameter: &Parameter) -> Result<Option<Cow<'_, str>>, ApiError> {
        let (event, name) = (&self.event, parameter.name);
        let given = match (parameter.location, &event.multi_value_query_string_parameters) {
            (Location::Path, _) => value(event.path_parameters.as_ref(), name),
            (Location::Query, Some(values)) => values.get(name).and_then(|values| values.last()),
            // Events written by hand often have only this field.
            (Location::Query, None) => value(event.query_string_parameters.as_ref(), name),
        }
        .map(String::as_str);
        match (given, parameter.location) {
            (Some(given), Location::Path) => {
                let illegal = InvalidValue { allowed: parameter.allowed };
                let text = percent_decoded(given).ok_or_else(|| invalid_parameter(name, illegal, given))?;
                Ok(Some(text))
            }
            (given, _) => Ok(given.map(Cow::Borrowed)),
        }
    }
}

/// The error of a required parameter that is missing.
#[must_use]
pub fn missing_parameter(name: &str, condition: &str) -> ApiError {
    ApiError::bad_request(format!("Parameter '{name}' is required{condition}."))
}

/// The error of a parameter whose value `received` is not allowed.
#[must_use]
pub fn invalid_parameter(name: &str, InvalidValue { allowed }: InvalidValue, received: &str) -> ApiError {
    let received = Excerpt::of(received);
    ApiError::bad_request(format!("Parameter '{name}' must be {allowed}, but was '{received}'."))
}

fn value<'a>(parameters: Option<&'a HashMap<String, String>>, name: &str) -> Option<&'a String> {
    parameters.and_then(|parameters| parameters.get(name))
}

/// Returns the text without its percent-encoding. `None` if an escape is malformed or the result is not UTF-8. A `+` stands for
/// itself, because only a query has it for a space.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    let begins_with_digits = |rest: &str| {
        rest.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    text.split('%')
        .skip(1)
        .all(begins_with_digits)
        .then(|| percent_decode_str(text).decode_utf8().ok())
        .flatten()
}

fn parse<T: FromStr<Err = InvalidValue>>(name: &str, text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|invalid| invalid_parameter(name, invalid, text))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::params::{Limit, Page, Username};
    use crate::routes::{self, FlipsLimit};

    fn request(event: &str) -> Request {
        let event: ProxyEvent = serde_json::from_str(event).unwrap();
        let invocation = Invocation::new(event.time(), Instant::now());
        Request::new(event, &routes::BAZAAR, invocation)
    }

    fn event(parameters: &str) -> String {
        format!(
            r#"{{"resource":"/v1/bazaar","path":"/v1/bazaar","httpMethod":"GET",{parameters},"requestContext":{{}}}}"#
        )
    }

    fn limit(query: &str) -> Result<usize, ApiError> {
        request(&event(query)).parameter::<FlipsLimit>("limit").map(Limit::get)
    }

    #[test]
    fn the_last_value_of_a_repeated_parameter_wins() {
        let both =
            r#""queryStringParameters":{"limit":"3"},"multiValueQueryStringParameters":{"limit":["7","3"]}"#;
        assert_eq!(limit(both).unwrap(), 3);
        assert_eq!(limit(r#""multiValueQueryStringParameters":{"limit":["7","9"]}"#).unwrap(), 9);
    }

    #[test]
    fn a_path_parameter_is_decoded_once() {
        let username = |encoded: &str| {
            let event = event(&format!(r#""pathParameters":{{"username":{}}}"#, serde_json::json!(encoded)));
            let request = Request { route: &routes::PROFILE, ..request(&event) };
            let username = request.required::<Username>("username", "");
            username.map(|name| name.as_str().to_owned()).map_err(|error| error.message().to_owned())
        };
        for (encoded, decoded) in [("Notch", "Notch"), ("%4eotch", "Notch"), ("%4E%5f%6Ftch", "N_otch")] {
            assert_eq!(username(encoded).unwrap(), decoded);
        }
        for (encoded, shown) in [
            ("%254eotch", "%4eotch"),
            ("a+b", "a+b"),
            ("a%20b", "a b"),
            ("a%2Fb", "a/b"),
            ("%00", "\\u{0}"),
            ("%C3%AB", "ë"),
            ("%", "%"),
            ("Notch%4", "Notch%4"),
            ("%zzNotch", "%zzNotch"),
            ("%+4Notch", "%+4Notch"),
            ("%ë", "%ë"),
            ("%ff%fe", "%ff%fe"),
            ("%C3", "%C3"),
            ("%ff\u{7}", "%ff\\u{7}"),
        ] {
            let message = username(encoded).unwrap_err();
            assert!(message.starts_with("Parameter 'username' must be 1 to 16 letters"), "{message}");
            assert!(message.ends_with(&format!("but was '{shown}'.")), "{encoded}: {message}");
        }
        assert_eq!(username("").unwrap_err(), "Parameter 'username' is required.");
    }

    #[test]
    fn an_event_without_lists_of_values_is_read_too() {
        assert_eq!(limit(r#""queryStringParameters":{"limit":"3"}"#).unwrap(), 3);
        assert_eq!(
            limit(r#""queryStringParameters":null,"multiValueQueryStringParameters":null"#).unwrap(),
            20
        );
    }

    #[test]
    fn an_error_names_the_parameter_what_is_allowed_and_what_was_received() {
        let error = limit(r#""queryStringParameters":{"limit":"a lot"}"#).unwrap_err();
        assert_eq!(
            error.message(),
            "Parameter 'limit' must be a whole number from 1 to 100, but was 'a lot'."
        );
    }

    #[test]
    fn a_parameter_is_read_only_as_the_route_declares_it() {
        let event = r#"{"resource":"/","path":"/","httpMethod":"GET","queryStringParameters":{"page":"1"},
            "requestContext":{"requestTimeEpoch":1777388600}}"#;
        let request = request(event);
        assert!(request.parameter::<Page>("page").is_err());
        assert!(request.parameter::<Limit<1, 200, 20>>("limit").is_err());
        assert_eq!(request.invocation().now(), UnixMilliseconds::new(1_777_388_600_000));
    }
}
