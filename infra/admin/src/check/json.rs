//! Access to parts of JSON documents that may be missing.

use serde_json::Value;

/// The value that a JSON pointer, such as `/meta/cached`, leads to; `null` if it leads nowhere.
pub(super) fn at<'a>(document: &'a Value, pointer: &str) -> &'a Value {
    document.pointer(pointer).unwrap_or(&Value::Null)
}
