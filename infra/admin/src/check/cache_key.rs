//! Different requests do not share a cached response, however their parameters are written. AWS does not document how the
//! cache of API Gateway treats a repeated parameter, so `check` finds out. It requests unknown items, because the error
//! message repeats the id.

use common::routes::BAZAAR;
use conformance::Mismatch;

use super::authorization::CACHED_PATH;
use super::envelope;
use super::error_responses::check_message;
use super::inspection::Inspection;
use super::report::Report;

/// Returns whether a repeated parameter affects responses to other requests, which shows that errors are cached.
pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) -> bool {
    for (name, target) in [
        ("trailing slash is ignored", format!("{CACHED_PATH}/")),
        ("unknown parameter is ignored", format!("{CACHED_PATH}?unknown=1")),
    ] {
        let response = inspection.get(&target).await;
        report.check(name, response.and_then(|response| envelope::check_success(&response).map(drop)));
    }
    report.check("parameters are kept apart", check_separators(inspection).await);

    let [first, last] = [(); 2].map(|()| inspection.unknown_item());
    let winner = requested_item(inspection, &[&first, &last]).await;
    let value = match &winner {
        Ok(winner) if *winner == last => "last",
        Ok(winner) if *winner == first => "first",
        _ => "unknown",
    };
    report.check(
        "repeated parameter: the last value wins",
        winner.and_then(|winner| check_item(&last, &winner)),
    );
    let effects = [
        ("repeated parameter does not affect the first value", check_alone(inspection, &first).await),
        ("repeated parameter does not affect the last value", check_alone(inspection, &last).await),
        ("repeated parameter has a cache key of its own", check_both_orders(inspection).await),
    ];
    let is_broken = effects.iter().any(|(_, result)| result.is_err());
    for (name, result) in effects {
        report.check(name, result);
    }

    let (value, effect) = if is_broken {
        (
            format!("{value}_and_poisons"),
            "a cached response is served to another request: see the failed checks",
        )
    } else {
        (value.to_owned(), "requests with only A or only B get their own responses")
    };
    let text = format!("of ?id=A&id=B the {} value wins; {effect}", value.trim_end_matches("_and_poisons"));
    report.observe("repeated_parameter", value, text);
    is_broken
}

/// Sends requests that differ in where one parameter ends and the next begins.
async fn check_separators(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    let id = inspection.unknown_item();
    let whole = format!("{}?mode=item&id={id}", BAZAAR.path);
    check_message(&inspection.get(&whole).await?, 404, &[&id])?;
    let joined = inspection.get(&format!("{}?mode=item%26id={id}", BAZAAR.path)).await?;
    check_message(&joined, 400, &["mode"])?;
    let longer = inspection.get(&format!("{whole}%26limit%3D1")).await?;
    let message = envelope::check_error(&longer, 404)?;
    if message.contains(&format!("'{id}'")) {
        return Err(Mismatch::new(format!("a message about the id {id}&limit=1"), message));
    }
    check_message(&inspection.get(&whole).await?, 404, &[&format!("'{id}'")])
}

/// Requests one item alone, it and another in both orders, and it alone again.
async fn check_both_orders(inspection: &Inspection<'_>) -> Result<(), Mismatch> {
    let [one, other] = [(); 2].map(|()| inspection.unknown_item());
    check_alone(inspection, &one).await?;
    check_item(&other, &requested_item(inspection, &[&one, &other]).await?)?;
    check_item(&one, &requested_item(inspection, &[&other, &one]).await?)?;
    check_alone(inspection, &one).await
}

/// Checks that the response to a request with only this item is about it.
async fn check_alone(inspection: &Inspection<'_>, id: &str) -> Result<(), Mismatch> {
    check_item(id, &requested_item(inspection, &[id]).await?)
}

fn check_item(expected: &str, received: &str) -> Result<(), Mismatch> {
    if received == expected {
        Ok(())
    } else {
        Err(Mismatch::new(format!("a response about {expected}"), format!("a response about {received}")))
    }
}

/// The item that the response is about if each of `ids` is sent as `id`.
async fn requested_item(inspection: &Inspection<'_>, ids: &[&str]) -> Result<String, Mismatch> {
    let query: Vec<String> = ids.iter().map(|id| format!("id={id}")).collect();
    let response = inspection.get(&format!("{}?mode=item&{}", BAZAAR.path, query.join("&"))).await?;
    let message = envelope::check_error(&response, 404)?;
    let quoted = message.split('\'').nth(1).map(str::to_owned);
    quoted.ok_or_else(|| Mismatch::new("a message that quotes the id", message))
}
