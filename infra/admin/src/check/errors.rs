//! Every error that a client can cause has its status, its code, and a message that helps.

use reqwest::Method;

use super::answer::Answer;
use super::description::Operation;
use super::part::part;
use super::question::Question;
use super::report::{Failure, Report};
use super::{Inspection, envelope};

/// A page that no game has.
const AUCTIONS: &str = "/v1/auctions?page=";

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for operation in inspection.description.operations() {
        for status in [400, 404] {
            for example in operation.examples(status) {
                let request = if operation.path.contains("{username}") && status == 404 {
                    // The player of the example might exist one day.
                    format!("/v1/profile/{}", inspection.unknown_player())
                } else {
                    example
                };
                let result = mistaken(inspection, &operation, &request, status).await;
                let shown = operation.path.split_once('{').map_or(request.as_str(), |_| operation.path);
                let shown = if status == 404 { shown } else { &request };
                report.check(format!("error {status} GET {shown}"), result);
            }
        }
    }
    report.check("error 404 page after the last", beyond_the_last_page(inspection).await);
    report.check("error 404 unknown item", unknown_item(inspection).await);
    for path in ["/nothing", "/v1/nothing", "/v1/bazaar/nothing", "/v1/profile", "/v2/mayor"] {
        report.check(format!("error 404 GET {path}"), unknown_route(inspection, Method::GET, path).await);
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let result = unknown_route(inspection, method.clone(), "/v1/mayor").await;
        report.check(format!("error 404 {method} /v1/mayor"), result);
    }
    let question = Question::anonymous("/").method(Method::POST);
    let result = inspection.target.ask(&question).await;
    report.check("error 404 POST /", result.and_then(|answer| envelope::error(&answer, 404).map(drop)));
}

async fn mistaken(
    inspection: &Inspection<'_>,
    operation: &Operation<'_>,
    request: &str,
    status: u16,
) -> Result<(), Failure> {
    let answer = inspection.paid(request).await?;
    let message = envelope::error(&answer, status)?;
    operation.judge(&answer)?;
    let names_one = operation.parameters().into_iter().any(|name| message.contains(name));
    if status == 400 && !names_one {
        return Err(Failure::new("a message that names the parameter", message));
    }
    Ok(())
}

async fn beyond_the_last_page(inspection: &Inspection<'_>) -> Result<(), Failure> {
    let first = envelope::success(&inspection.paid(&format!("{AUCTIONS}0")).await?)?;
    let pages = part(&first, &["totalPages"]).as_u64();
    let pages = pages.ok_or_else(|| Failure::new("totalPages", part(&first, &["totalPages"]).to_string()))?;
    // The game may have got a page more since then.
    let answer = inspection.paid(&format!("{AUCTIONS}{}", pages + 20)).await?;
    envelope::error(&answer, 404).map(drop)
}

async fn unknown_item(inspection: &Inspection<'_>) -> Result<(), Failure> {
    let id = inspection.unknown_item();
    let answer = inspection.paid(&format!("/v1/bazaar?mode=item&id={id}")).await?;
    names(&answer, 404, &[&id])
}

/// Without a key: what does not exist wants none.
async fn unknown_route(inspection: &Inspection<'_>, method: Method, path: &str) -> Result<(), Failure> {
    let question = Question::anonymous(path).method(method.clone());
    let answer = inspection.target.ask(&question).await?;
    names(&answer, 404, &[method.as_str(), path, "GET /"])
}

/// That this is an error with the status, whose message has all these words.
pub(super) fn names(answer: &Answer, status: u16, words: &[&str]) -> Result<(), Failure> {
    let message = envelope::error(answer, status)?;
    match words.iter().find(|word| !message.contains(**word)) {
        None => Ok(()),
        Some(word) => Err(Failure::new(format!("a message that names {word}"), message)),
    }
}
