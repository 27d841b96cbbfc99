//! Parts of JSON documents.

use serde_json::Value;

static NOTHING: Value = Value::Null;

/// What the names lead to, one inside the other; `null` where they lead nowhere.
pub(super) fn part<'a>(whole: &'a Value, names: &[&str]) -> &'a Value {
    names.iter().try_fold(whole, |value, name| value.get(name)).unwrap_or(&NOTHING)
}
