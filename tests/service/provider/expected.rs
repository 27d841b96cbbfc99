//! The data that must follow from a body of the provider.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Parsed(Value),
    /// Data that is passed on byte for byte.
    Verbatim(String),
}

/// A request, and the data that must follow from a body.
pub(crate) struct Expected {
    pub(crate) path: String,
    pub(crate) data: Data,
    /// Parts of the data that must repeat the provider byte for byte, by their place.
    pub(crate) repeated: Vec<(String, String)>,
}

impl Expected {
    pub(crate) fn new(path: impl Into<String>, data: Data) -> Self {
        Self { path: path.into(), data, repeated: Vec::new() }
    }
}

/// The field of an object, exactly as in the text.
#[track_caller]
pub(crate) fn spelled(text: &str, field: &str) -> String {
    let body: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
    body[field].get().to_owned()
}

/// The part of the text at this place, such as `profiles/0/members`, exactly as in the text.
#[track_caller]
pub(crate) fn spelled_at(text: &str, place: &str) -> String {
    place.split('/').fold(text.to_owned(), |text, step| match step.parse::<usize>() {
        Ok(position) => elements(&text).swap_remove(position),
        Err(_) => spelled(&text, step),
    })
}

/// The elements of an array, exactly as in the text.
#[track_caller]
pub(super) fn elements(text: &str) -> Vec<String> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}
