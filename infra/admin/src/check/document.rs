//! The OpenAPI document that the deployment serves.

use conformance::{Mismatch, excerpt};
use serde_json::Value;

use super::judge::Verdict;
use super::response::{Response, at};

/// The document of the version that this program belongs to.
const EXPECTED: &str = include_str!("../../../../functions/index/openapi.json");

/// Returns the document in the response.
///
/// # Errors
/// If the response has none.
pub(super) fn document(response: &Response) -> Result<Value, Mismatch> {
    let mismatch = || Mismatch::new("an OpenAPI document", response.summary());
    if response.status != 200 {
        return Err(mismatch());
    }
    let document = response.json()?;
    let is_openapi = at(&document, "/openapi").is_string() && at(&document, "/paths").is_object();
    if is_openapi { Ok(document) } else { Err(mismatch()) }
}

/// Judges that the response has the document of this version.
pub(super) fn of_this_version(response: &Response) -> Verdict {
    let received = document(response)?;
    let expected: Value = serde_json::from_str(EXPECTED).unwrap_or_default();
    let version =
        |document: &Value| format!("version {}", at(document, "/info/version").as_str().unwrap_or("none"));
    let (received_version, expected_version) = (version(&received), version(&expected));
    if received_version != expected_version {
        let expected = format!("{expected_version}, the version of this program");
        return Err(Mismatch::new(expected, received_version));
    }
    if received == expected {
        return Ok(());
    }
    Err(Mismatch::new(
        format!("the document of {expected_version} that belongs to this program"),
        format!("another document of the same version: {}", first_difference("", &expected, &received)),
    ))
}

fn first_difference(place: &str, expected: &Value, received: &Value) -> String {
    match (expected, received) {
        (Value::Object(expected), Value::Object(received)) => {
            for name in expected.keys().chain(received.keys()) {
                let place = format!("{place}/{name}");
                match (expected.get(name), received.get(name)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return first_difference(&place, one, other),
                    (Some(_), None) => return format!("{place} is missing"),
                    (None, _) => return format!("{place} is new"),
                }
            }
            place.to_owned()
        }
        _ => format!("{place} is {}", excerpt(&received.to_string())),
    }
}
