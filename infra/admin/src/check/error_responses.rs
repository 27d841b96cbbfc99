//! Every error that a client can cause has its status, its code and a helpful message.

use common::routes::{AUCTIONS, BAZAAR, MAYOR};
use conformance::{Mismatch, Operation};
use reqwest::Method;

use super::envelope;
use super::inspection::Inspection;
use super::json::at;
use super::openapi::check_response;
use super::report::Report;
use super::request::Request;
use super::response::Response;

/// How far beyond the last page of auctions to look: pages may be added during the check.
const PAGES_BEYOND: u64 = 20;

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.document.operations() {
        for status in [400, 404] {
            for example in inspection.example_requests(&operation, status) {
                // The player of the example might exist one day.
                let is_unknown_player = operation.path().contains("{username}") && status == 404;
                let request = if is_unknown_player {
                    operation.path().replace("{username}", &inspection.unknown_player())
                } else {
                    example
                };
                let result = check_example(inspection, &operation, &request, status).await;
                let shown = if is_unknown_player { operation.path() } else { &request };
                report.check(format!("error {status} GET {shown}"), result);
            }
        }
    }
    report.check("error 404 page after the last", check_page_after_the_last(inspection).await);
    report.check("error 404 unknown item", check_unknown_item(inspection).await);
    for path in ["/nothing", "/v1/nothing", "/v1/bazaar/nothing", "/v1/profile", "/v2/mayor"] {
        let result = check_unknown_route(inspection, Method::GET, path).await;
        report.check(format!("error 404 GET {path}"), result);
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let result = check_unknown_route(inspection, method.clone(), MAYOR.path).await;
        report.check(format!("error 404 {method} {}", MAYOR.path), result);
    }
    let response = inspection.client.send(&Request::anonymous("/").method(Method::POST)).await;
    let result = response.and_then(|response| envelope::check_error(&response, 404).map(drop));
    report.check("error 404 POST /", result);
}

async fn check_example(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
    status: u16,
) -> Result<(), Mismatch> {
    let response = inspection.get(request).await?;
    let message = envelope::check_error(&response, status)?;
    check_response(operation, &response)?;
    let mut parameters =
        operation.parameters().iter().filter_map(|parameter| at(parameter, "/name").as_str());
    if status == 400 && !parameters.any(|name| message.contains(name)) {
        return Err(Mismatch::new("a message that names the parameter", message));
    }
    Ok(())
}

async fn check_page_after_the_last(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    let page = |number: u64| format!("{}?page={number}", AUCTIONS.path);
    let first = envelope::check_success(&inspection.get(&page(0)).await?)?;
    let pages = at(&first, "/totalPages");
    let pages = pages.as_u64().ok_or_else(|| Mismatch::new("totalPages", pages.to_string()))?;
    let response = inspection.get(&page(pages + PAGES_BEYOND)).await?;
    envelope::check_error(&response, 404).map(drop)
}

async fn check_unknown_item(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    let id = inspection.unknown_item();
    let response = inspection.get(&format!("{}?mode=item&id={id}", BAZAAR.path)).await?;
    check_message(&response, 404, &[&id])
}

/// Sends no key: unknown routes do not require one.
async fn check_unknown_route(
    inspection: &Inspection<'_>,
    method: Method,
    path: &str,
) -> Result<(), Mismatch> {
    let request = Request::anonymous(path).method(method.clone());
    let response = inspection.client.send(&request).await?;
    check_message(&response, 404, &[method.as_str(), path, "GET /"])
}

/// Checks that the response is an error with this status and that its message contains all words.
pub(super) fn check_message(response: &Response, status: u16, words: &[&str]) -> Result<(), Mismatch> {
    let message = envelope::check_error(response, status)?;
    match words.iter().find(|word| !message.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(Mismatch::new(format!("a message that names {word}"), message)),
    }
}
