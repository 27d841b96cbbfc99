//! A request as API Gateway hands it over (REST proxy event, version 1.0), reduced to what a handler may read.
//!
//! `lambda_http` can build an `http::Request` from such an event, but it parses every header and puts the address
//! together from `Host`, and a header that it cannot read ends the invocation. No route reads headers, so a strange
//! one must not matter: the few fields that count are read here instead.

use std::collections::HashMap;
use std::str::FromStr;

use serde::Deserialize;

use crate::error::ApiError;
use crate::invocation::Invocation;
use crate::params::{Echo, Refused};
use crate::routes::{Location, Route};
use crate::time::UnixMilliseconds;

/// The fields of a proxy event that count.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyEvent {
    resource: String,
    http_method: String,
    path: String,
    query_string_parameters: Option<HashMap<String, String>>,
    multi_value_query_string_parameters: Option<HashMap<String, Vec<String>>>,
    path_parameters: Option<HashMap<String, String>>,
    request_context: RequestContext,
}

/// What every event of the gateway says about the request behind it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestContext {
    request_time_epoch: Option<i64>,
}

impl RequestContext {
    /// When the gateway received the request; this machine's clock if the event does not say.
    pub(crate) fn time(&self) -> UnixMilliseconds {
        let given = self.request_time_epoch;
        given.map_or_else(UnixMilliseconds::of_system_clock, UnixMilliseconds::from_request_time)
    }
}

impl ProxyEvent {
    /// When the gateway received the request; this machine's clock if the event does not say.
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
    /// The request in `event`, to be answered by `route`.
    #[must_use]
    pub const fn new(event: ProxyEvent, route: &'static Route, invocation: Invocation) -> Self {
        Self { event, route, invocation }
    }

    /// The HTTP method, as sent.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.event.http_method
    }

    /// The template's path that the request matched, parameters in braces. Unlike the path it is the same behind every
    /// stage and domain.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.event.resource
    }

    /// The path, as sent.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.event.path
    }

    /// The invocation that this request came with.
    #[must_use]
    pub const fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// The parameter `name`, or its default where the caller says nothing.
    ///
    /// # Errors
    /// `BAD_REQUEST` where the value is not allowed.
    pub fn parameter<T: FromStr<Err: Into<Refused>> + Default>(&self, name: &str) -> Result<T, ApiError> {
        self.text(name)?.map_or_else(|| Ok(T::default()), |text| parse(name, text))
    }

    /// The parameter `name`, without which there is no answer; `reason` says when, to follow "is required".
    ///
    /// # Errors
    /// `BAD_REQUEST` where the value is missing or not allowed.
    pub fn required<T: FromStr<Err: Into<Refused>>>(&self, name: &str, reason: &str) -> Result<T, ApiError> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        let text =
            text.ok_or_else(|| ApiError::bad_request(format!("Parameter '{name}' is required{reason}.")))?;
        parse(name, text)
    }

    /// The last value of the parameter `name`: given twice, the last one counts.
    fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        // An undeclared parameter is no part of the cache key, and one caller's answer would reach another.
        let declared = self.route.parameter(name);
        let declared =
            declared.ok_or_else(|| ApiError::internal(format!("parameter '{name}' is not declared")))?;
        let event = &self.event;
        Ok(match (declared.location, &event.multi_value_query_string_parameters) {
            (Location::Path, _) => value(event.path_parameters.as_ref(), name),
            (Location::Query, Some(values)) => values.get(name).and_then(|values| values.last()),
            // Events written by hand often have only this one.
            (Location::Query, None) => value(event.query_string_parameters.as_ref(), name),
        }
        .map(String::as_str))
    }
}

fn value<'a>(parameters: Option<&'a HashMap<String, String>>, name: &str) -> Option<&'a String> {
    parameters.and_then(|parameters| parameters.get(name))
}

fn parse<T: FromStr<Err: Into<Refused>>>(name: &str, text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|refused: T::Err| {
        let (Refused { allowed }, came) = (refused.into(), Echo::of(text));
        ApiError::bad_request(format!("Parameter '{name}' must be {allowed}, but was '{came}'."))
    })
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::params::Limit;
    use crate::routes;

    fn request(event: &str) -> Request {
        let event: ProxyEvent = serde_json::from_str(event).unwrap();
        let invocation = Invocation::new(event.time(), Instant::now());
        Request::new(event, &routes::BAZAAR, invocation)
    }

    fn limit(query: &str) -> Result<usize, ApiError> {
        let event = format!(
            r#"{{"resource":"/v1/bazaar","path":"/v1/bazaar","httpMethod":"GET",{query},"requestContext":{{}}}}"#
        );
        request(&event).parameter::<Limit<1, 100, 20>>("limit").map(Limit::get)
    }

    #[test]
    fn of_a_parameter_given_twice_the_last_one_counts() {
        let both =
            r#""queryStringParameters":{"limit":"3"},"multiValueQueryStringParameters":{"limit":["7","3"]}"#;
        assert_eq!(limit(both).unwrap(), 3);
        assert_eq!(limit(r#""multiValueQueryStringParameters":{"limit":["7","9"]}"#).unwrap(), 9);
    }

    #[test]
    fn an_event_without_lists_of_values_is_read_all_the_same() {
        assert_eq!(limit(r#""queryStringParameters":{"limit":"3"}"#).unwrap(), 3);
        assert_eq!(
            limit(r#""queryStringParameters":null,"multiValueQueryStringParameters":null"#).unwrap(),
            20
        );
    }

    #[test]
    fn a_refused_value_is_named_with_what_is_allowed() {
        let error = limit(r#""queryStringParameters":{"limit":"a lot"}"#).unwrap_err();
        assert_eq!(
            error.message(),
            "Parameter 'limit' must be a whole number from 1 to 100, but was 'a lot'."
        );
    }

    #[test]
    fn a_parameter_that_the_route_does_not_declare_cannot_be_read() {
        let event = r#"{"resource":"/","path":"/","httpMethod":"GET","queryStringParameters":{"page":"1"},
            "requestContext":{"requestTimeEpoch":1777388600}}"#;
        let request = request(event);
        assert!(request.parameter::<crate::params::Page>("page").is_err());
        assert_eq!(request.invocation().now(), UnixMilliseconds::new(1_777_388_600_000));
    }
}
