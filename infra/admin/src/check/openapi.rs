//! The OpenAPI document that the deployment serves, and the check of responses against it.

use common::routes::OPENAPI;
use conformance::{Document, Mismatch, Operation, excerpt};
use serde_json::Value;

use super::client::Client;
use super::envelope;
use super::json::at;
use super::report::Report;
use super::request::Request;
use super::response::Response;
use crate::error::Error;

/// The document of the version that this program belongs to.
const EXPECTED: &str = include_str!("../../../../functions/index/openapi.json");

/// The document that the deployment serves, if it serves one.
///
/// # Errors
/// If there is no response.
pub(super) async fn fetch(client: &Client, report: &mut Report) -> Result<Option<Document>, Error> {
    let response = client.send(&Request::anonymous(OPENAPI.path)).await;
    let response = response.map_err(|mismatch| Error::Unreachable { cause: mismatch.received })?;
    match document(&response) {
        Ok(document) => {
            report.check("OpenAPI document is served", Ok(()));
            report.check("OpenAPI document is that of this version", check_version(&document));
            Ok(Some(Document::new(document)))
        }
        Err(mismatch) => {
            report.check("OpenAPI document is served", Err(mismatch));
            report.skip("OpenAPI document is that of this version", "no document is served");
            Ok(None)
        }
    }
}

fn document(response: &Response) -> Result<Value, Mismatch> {
    let mismatch = || Mismatch::new("an OpenAPI document", response.summary());
    if response.status != 200 {
        return Err(mismatch());
    }
    let document = response.json()?;
    let is_openapi = at(&document, "/openapi").is_string() && at(&document, "/paths").is_object();
    if is_openapi { Ok(document) } else { Err(mismatch()) }
}

fn check_version(document: &Value) -> Result<(), Mismatch> {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap_or_default();
    let version =
        |document: &Value| format!("version {}", at(document, "/info/version").as_str().unwrap_or("none"));
    let (received_version, expected_version) = (version(document), version(&expected));
    if received_version != expected_version {
        return Err(Mismatch::new(
            format!("{expected_version}, the version of this program"),
            received_version,
        ));
    }
    if *document == expected {
        return Ok(());
    }
    Err(Mismatch::new(
        format!("the document of {expected_version} that belongs to this program"),
        format!("another document of the same version: {}", first_difference("", &expected, document)),
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

/// Checks that the response conforms to the document and has the right envelope.
///
/// # Errors
/// The first difference.
pub(super) fn check_response(operation: &Operation<'_>, response: &Response) -> Result<(), Mismatch> {
    operation.check_response(response.status, &response.headers, &response.text)?;
    if response.status != 200 {
        return envelope::check_error(response, response.status).map(drop);
    }
    // The OpenAPI document has no envelope.
    if operation.path() == OPENAPI.path { Ok(()) } else { envelope::check_success(response).map(drop) }
}

#[cfg(test)]
mod tests {
    use common::routes::{INDEX, VERSION_1};

    use super::*;

    fn expected() -> Value {
        serde_json::from_str(EXPECTED).unwrap()
    }

    #[test]
    fn every_operation_has_an_example() {
        let document = Document::new(expected());
        for operation in document.operations() {
            assert!(operation.examples(200).next().is_some(), "{}", operation.path());
            let route =
                VERSION_1.into_iter().chain([&INDEX, &OPENAPI]).find(|route| route.path == operation.path());
            assert_eq!(Some(operation.requires_key()), route.map(|route| route.requires_key));
        }
        assert_eq!(document.operations().count(), VERSION_1.len() + 2);
    }

    #[test]
    fn another_document_is_reported_with_its_first_difference() {
        assert_eq!(check_version(&expected()), Ok(()));
        let mut other = expected();
        other["info"]["version"] = "9.9.9".into();
        assert_eq!(check_version(&other).unwrap_err().received, "version 9.9.9");
        let mut other = expected();
        other["paths"]["/v1/mayor"]["get"]["summary"] = "x".into();
        let difference = check_version(&other).unwrap_err().received;
        assert!(difference.ends_with(r#"/paths//v1/mayor/get/summary is "x""#), "{difference}");
    }
}
