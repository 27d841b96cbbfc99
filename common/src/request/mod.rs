//! A request as API Gateway passes it on (REST proxy event, version 1.0), reduced to the fields that a
//! handler may read.
//!
//! `lambda_http` can build an `http::Request` from such an event, but it parses every header and fails if one
//! is invalid. No route for clients reads headers, so an invalid header must not matter. This module
//! therefore parses only the fields of the event that routes need.

pub mod auction_item_id;
pub mod ids;
pub mod parameters;
pub mod route;
pub mod split;

use std::borrow::Cow;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::parameters::{Allowed, InvalidValue, Value, digits};
use self::route::{Location, Parameter, Route};
use crate::error::ApiError;
use crate::excerpt::Excerpt;
use crate::invocation::Invocation;
use crate::json::Members;
use crate::time::UnixMilliseconds;

/// The number of characters of each value in the error about two different values.
const CONFLICT_EXCERPT: usize = 32;

/// The fields of a proxy event that the service reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyEvent {
    resource: String,
    http_method: String,
    path: String,
    query_string_parameters: Option<Members<String, String>>,
    multi_value_query_string_parameters: Option<Members<String, Vec<String>>>,
    /// The values are as the client wrote them, because the gateway decodes the query, but not the path.
    path_parameters: Option<Members<String, String>>,
    request_context: RequestContext,
}

/// The part of every gateway event that describes the request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    request_time_epoch: Option<i64>,
}

impl RequestContext {
    /// Returns when the gateway received the request, or the time of the system clock if the event has no
    /// time.
    #[must_use]
    pub fn time(&self) -> UnixMilliseconds {
        let given = self.request_time_epoch;
        given.map_or_else(UnixMilliseconds::of_system_clock, UnixMilliseconds::from_request_time)
    }
}

impl ProxyEvent {
    /// Returns when the gateway received the request, or the time of the system clock if the event has no
    /// time.
    #[must_use]
    pub fn time(&self) -> UnixMilliseconds {
        self.request_context.time()
    }

    /// Returns all values of the parameter. The event has query parameters in two fields, and an event that
    /// was written by hand often has only one of these fields.
    fn values(&self, parameter: &Parameter) -> impl Iterator<Item = &str> {
        let name = parameter.name;
        let (lists, single) = match parameter.location {
            Location::Path => (None, self.path_parameters.as_ref()),
            Location::Query => {
                (self.multi_value_query_string_parameters.as_ref(), self.query_string_parameters.as_ref())
            }
        };
        let listed = lists.into_iter().flat_map(move |lists| lists.named(name).flatten());
        listed.chain(single.into_iter().flat_map(move |single| single.named(name))).map(String::as_str)
    }
}

#[derive(Debug)]
pub struct Request {
    event: ProxyEvent,
    payload: Box<RawValue>,
    route: &'static Route,
    invocation: Invocation,
}

impl Request {
    /// Returns the request in `event` to `route`. `payload` is the text of the event.
    #[must_use]
    pub const fn new(
        event: ProxyEvent,
        payload: Box<RawValue>,
        route: &'static Route,
        invocation: Invocation,
    ) -> Self {
        Self { event, payload, route, invocation }
    }

    /// The event as the gateway sent it, for a route that reads headers or a body.
    #[must_use]
    pub fn payload(&self) -> &str {
        self.payload.get()
    }

    #[must_use]
    pub fn method(&self) -> &str {
        &self.event.http_method
    }

    /// The path of the route that the request matched, with parameters in braces, as in `template.yaml`.
    /// Unlike [`Request::path`], it does not depend on the stage or the domain.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.event.resource
    }

    #[must_use]
    pub fn path(&self) -> &str {
        &self.event.path
    }

    /// Returns the query string, encoded, without its question mark.
    #[must_use]
    pub fn query(&self) -> String {
        let lists = self.event.multi_value_query_string_parameters.iter().flat_map(Members::iter);
        let pairs = lists.flat_map(|(name, values)| values.iter().map(move |value| (name, value)));
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let assignments = pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        assignments.collect::<Vec<_>>().join("&")
    }

    #[must_use]
    pub const fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// Returns the parameter `name`, or its default if it is absent.
    pub fn parameter<T: Value + Default>(&self, name: &str) -> Result<T, ApiError> {
        Ok(self.optional(name)?.unwrap_or_default())
    }

    /// Returns the parameter `name`; `None` if it is absent.
    pub fn optional<T: Value>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let declared = self.declared::<T>(name)?;
        self.text(declared)?.map(|text| parse(name, &text)).transpose()
    }

    /// Returns the parameter `name`, which is required. `condition` follows "is required" in the error, such
    /// as " with mode=item".
    pub fn required<T: Value>(&self, name: &str, condition: &str) -> Result<T, ApiError> {
        let declared = self.declared::<T>(name)?;
        let text = self.text(declared)?.filter(|text| !text.is_empty());
        parse(name, &text.ok_or_else(|| missing_parameter(name, condition))?)
    }

    /// Returns the maximum number of entries that the parameter `name` asks for, or its default if it is
    /// absent. The table of routes has the bounds.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is not a whole number within the bounds.
    pub fn limit(&self, name: &str) -> Result<usize, ApiError> {
        self.number(name)?.try_into().map_err(ApiError::internal)
    }

    /// Returns the whole number in the parameter `name`, or its default if it is absent. The table of routes
    /// has the bounds.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is not a whole number within the bounds.
    pub fn number(&self, name: &str) -> Result<u64, ApiError> {
        let declared = self.route.parameter(name).ok_or_else(|| undeclared_parameter(name))?;
        let Allowed::WholeNumber { min, max, default } = declared.allowed else {
            return Err(undeclared_parameter(name));
        };
        let Some(text) = self.text(declared)? else { return Ok(default) };
        let number = digits(&text).filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| invalid_parameter(name, InvalidValue { allowed: declared.allowed }, &text))
    }

    /// Returns the word in the parameter `name`, or its default if it is absent. The table of routes lists
    /// the words.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is not one of these words.
    pub fn word(&self, name: &str) -> Result<&'static str, ApiError> {
        let declared = self.route.parameter(name).ok_or_else(|| undeclared_parameter(name))?;
        let Allowed::OneOf { words, default } = declared.allowed else {
            return Err(undeclared_parameter(name));
        };
        let Some(text) = self.text(declared)? else { return Ok(default) };
        let word = words.iter().copied().find(|word| *word == text);
        word.ok_or_else(|| invalid_parameter(name, InvalidValue { allowed: declared.allowed }, &text))
    }

    /// Returns the entry of `choices` whose name is the word in the parameter `name`.
    ///
    /// # Errors
    /// `BAD_REQUEST` if the value is not one of the parameter's words.
    pub fn choice<T>(
        &self,
        name: &str,
        choices: &'static [T],
        name_of: impl Fn(&T) -> &str,
    ) -> Result<&'static T, ApiError> {
        let word = self.word(name)?;
        let choice = choices.iter().find(|choice| name_of(choice) == word);
        choice.ok_or_else(|| ApiError::internal(format!("parameter '{name}' has no choice '{word}'")))
    }

    /// Returns the declaration of the parameter `name`. A handler must not read an undeclared parameter,
    /// because the cache key does not include the parameter: a cached response would reach clients that sent
    /// a different value. The declared type must be the parsed type, because the declaration states the
    /// allowed values.
    fn declared<T: Value>(&self, name: &str) -> Result<&'static Parameter, ApiError> {
        let declared = self.route.parameter(name).filter(|declared| declared.allowed == T::ALLOWED);
        declared.ok_or_else(|| undeclared_parameter(name))
    }

    /// Returns the decoded value of the parameter; `None` if it is absent.
    fn text(&self, parameter: &Parameter) -> Result<Option<Cow<'_, str>>, ApiError> {
        let Some(given) = self.event.values(parameter).next() else { return Ok(None) };
        match parameter.location {
            Location::Query => Ok(Some(Cow::Borrowed(given))),
            Location::Path => {
                let illegal = InvalidValue { allowed: parameter.allowed };
                let text = percent_decoded(given)
                    .ok_or_else(|| invalid_parameter(parameter.name, illegal, given))?;
                Ok(Some(text))
            }
        }
    }

    /// Returns the names of undeclared query parameters without a value. The gateway splits a query at a raw
    /// `;`, so the rest of a value can be among these names.
    fn undeclared_without_value(&self) -> impl Iterator<Item = &str> {
        let lists = self.event.multi_value_query_string_parameters.iter().flat_map(Members::iter);
        let single = self.event.query_string_parameters.iter().flat_map(Members::iter);
        let empty_lists =
            lists.filter(|(_, values)| values.iter().all(String::is_empty)).map(|(name, _)| name);
        let empty_values = single.filter(|(_, value)| value.is_empty()).map(|(name, _)| name);
        empty_lists
            .chain(empty_values)
            .map(String::as_str)
            .filter(|name| self.route.parameter(name).is_none())
    }

    /// Checks that no declared parameter has two different values, even if the handler does not read it. The
    /// gateway chooses which value is part of the cache key, so a cached response could reach a client that
    /// sent only the other value.
    ///
    /// # Errors
    /// `BAD_REQUEST`, which must not be stored.
    pub fn refuse_conflicts(&self) -> Result<(), ApiError> {
        for parameter in self.route.parameters {
            let mut values = self.event.values(parameter);
            let Some(first) = values.next() else { continue };
            if let Some(other) = values.find(|other| *other != first) {
                return Err(conflicting_parameter(parameter.name, first, other));
            }
        }
        Ok(())
    }
}

/// The error of a handler that reads a parameter differently from its declaration in the table of routes.
fn undeclared_parameter(name: &str) -> ApiError {
    ApiError::internal(format!("parameter '{name}' is not declared with this type"))
}

/// The error of a required parameter that is missing.
#[must_use]
pub fn missing_parameter(name: &str, condition: &str) -> ApiError {
    ApiError::bad_request(format!("Parameter '{name}' is required{condition}."))
}

/// The error of a parameter whose value `received` is not allowed.
#[must_use]
pub fn invalid_parameter(name: &str, InvalidValue { allowed }: InvalidValue, received: &str) -> ApiError {
    let flaw = allowed.flaw(received).map(|flaw| format!(": {flaw}")).unwrap_or_default();
    let received = Excerpt::of(received);
    ApiError::bad_request(format!("Parameter '{name}' must be {allowed}, but was '{received}'{flaw}."))
}

/// The error of a parameter with two different values.
fn conflicting_parameter(name: &str, first: &str, other: &str) -> ApiError {
    let (first, other) = (Excerpt::up_to(CONFLICT_EXCERPT, first), Excerpt::up_to(CONFLICT_EXCERPT, other));
    let message =
        format!("Parameter '{name}' must be given once, but had the values '{first}' and '{other}'.");
    ApiError::bad_request(message).never_stored()
}

/// Decodes the percent-encoding; `None` if an escape is malformed or the result is not UTF-8. A `+` is kept,
/// because it means a space only in a query.
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

    use super::parameters::PageNumber;
    use super::*;
    use crate::error::Code;
    use crate::routes;

    fn request(event: &str) -> Request {
        let payload: Box<RawValue> = serde_json::from_str(event).unwrap();
        let event: ProxyEvent = serde_json::from_str(event).unwrap();
        let invocation = Invocation::new(event.time(), Instant::now());
        Request::new(event, payload, &routes::BAZAAR, invocation)
    }

    fn event(parameters: &str) -> String {
        format!(
            r#"{{"resource":"/v1/bazaar","path":"/v1/bazaar","httpMethod":"GET",{parameters},"requestContext":{{}}}}"#
        )
    }

    fn limit(query: &str) -> Result<usize, ApiError> {
        request(&event(query)).limit("limit")
    }

    #[test]
    fn a_parameter_with_two_different_values_is_refused() {
        let conflict = |query: &str| {
            let error = request(&event(query)).refuse_conflicts().unwrap_err();
            assert!(error.code() == Code::BadRequest && !error.may_be_stored(), "{query}: {error:?}");
            error.message().to_owned()
        };
        for query in [
            r#""multiValueQueryStringParameters":{"limit":["7","9"]}"#,
            r#""queryStringParameters":{"limit":"9"},"multiValueQueryStringParameters":{"limit":["7","9"]}"#,
            r#""queryStringParameters":{"limit":"9"},"multiValueQueryStringParameters":{"limit":["7"]}"#,
            r#""multiValueQueryStringParameters":{"limit":["7","7","9"]}"#,
            r#""multiValueQueryStringParameters":{"limit":["7"],"limit":["9"]}"#,
            r#""queryStringParameters":{"limit":"7","limit":"9"}"#,
        ] {
            let message = conflict(query);
            assert!(
                message.starts_with("Parameter 'limit' must be given once, but had the values "),
                "{message}"
            );
            assert!(message.contains("'7'") && message.contains("'9'"), "{message}");
        }
        conflict(r#""multiValueQueryStringParameters":{"id":["A",""]}"#);
        let long = format!(r#""multiValueQueryStringParameters":{{"id":["{}","\n"]}}"#, "x".repeat(1_000));
        let message = conflict(&long);
        assert!(message.len() < 150 && message.ends_with("xx…' and '\\n'."), "{message}");
    }

    #[test]
    fn equal_values_and_repeated_parameters_that_are_not_declared_are_accepted() {
        for query in [
            r#""multiValueQueryStringParameters":{"limit":["7","7"]}"#,
            r#""queryStringParameters":{"limit":"7"},"multiValueQueryStringParameters":{"limit":["7","7"],"x":["1","2"]}"#,
            r#""queryStringParameters":{"limit":"7","x":"1","x":"2"},"multiValueQueryStringParameters":null"#,
        ] {
            request(&event(query)).refuse_conflicts().unwrap();
            assert_eq!(limit(query).unwrap(), 7);
        }
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
    fn a_parameter_is_read_only_as_the_route_declares_it() {
        let event = r#"{"resource":"/","path":"/","httpMethod":"GET","queryStringParameters":{"page":"1"},
            "requestContext":{"requestTimeEpoch":1777388600}}"#;
        let request = request(event);
        assert!(request.parameter::<PageNumber>("page").is_err());
        assert!(request.limit("mode").is_err());
        assert_eq!(request.invocation().now(), UnixMilliseconds::new(1_777_388_600_000));
    }
}
