//! Headers of a response.

use http::{HeaderMap, HeaderValue};

use crate::mismatch::excerpt;

/// The value of the header `name`, if the response has the header exactly once. If it appears twice, clients
/// may use either value.
#[must_use]
pub fn single_header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next()?;
    if values.next().is_some() { None } else { only.to_str().ok() }
}

/// Every value of the header `name`, for people.
#[must_use]
pub fn header_text(headers: &HeaderMap, name: &str) -> String {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let values: Vec<_> = headers.get_all(name).iter().map(text).collect();
    if values.is_empty() { "none".to_owned() } else { excerpt(&values.join(", and ")) }
}
