//! Different requests do not share a cached response, however their parameters are written. AWS does not document which value
//! of a repeated parameter belongs to the key of the stage cache, so functions reject such requests, and `check` finds out. It
//! requests unknown items, because the error message repeats the id.

use common::routes::BAZAAR;
use conformance::Mismatch;

use super::authorization::CACHED_PATH;
use super::envelope;
use super::error_responses::check_message;
use super::inspection::Inspection;
use super::report::Report;

/// Returns whether a repeated parameter affects responses to other requests, which shows that errors are cached.
pub(super) async fn check(
    inspection: &Inspection<'_>,
    expect_stage_cache: Option<bool>,
    report: &mut Report,
) -> bool {
    for (name, target) in [
        ("trailing slash is ignored", format!("{CACHED_PATH}/")),
        ("unknown parameter is ignored", format!("{CACHED_PATH}?unknown=1")),
    ] {
        let response = inspection.get(&target).await;
        report.check(name, response.and_then(|response| envelope::check_success(&response).map(drop)));
    }
    report.check("parameters are kept apart", check_separators(inspection).await);

    let [one, other] = [(); 2].map(|()| inspection.unknown_item());
    let mut is_rejected = true;
    for (name, ids) in [
        ("repeated parameter ?id=A&id=B is rejected", [one.as_str(), &other]),
        ("repeated parameter ?id=B&id=A is rejected", [&other, &one]),
    ] {
        let result = check_rejected(inspection, ids, expect_stage_cache).await;
        is_rejected = is_rejected && result.is_ok();
        report.check(name, result);
    }
    let effects = [
        ("repeated parameter does not affect ?id=A", check_alone(inspection, &one).await),
        ("repeated parameter does not affect ?id=B", check_alone(inspection, &other).await),
    ];
    let is_broken = effects.iter().any(|(_, result)| result.is_err());
    for (name, result) in effects {
        report.check(name, result);
    }
    let third = inspection.unknown_item();
    let result = requested_item(inspection, &[&third, &third]).await;
    report.check(
        "parameter that is repeated with the same value is accepted",
        result.and_then(|received| check_item(&third, &received)),
    );

    let value = if is_rejected { values_in_cache_key(inspection).await } else { None };
    let (value, text) = match value {
        Some([false, false]) => (
            "all",
            "after ?id=A, both ?id=A&id=B and ?id=B&id=A reach the function: there is no stage cache, or all \
                     values belong to its key",
        ),
        Some([true, false]) => {
            ("first", "after ?id=A, ?id=A&id=B gets its cached response, and ?id=B&id=A does not")
        }
        Some([false, true]) => {
            ("last", "after ?id=A, ?id=B&id=A gets its cached response, and ?id=A&id=B does not")
        }
        Some([true, true]) => ("any", "after ?id=A, both ?id=A&id=B and ?id=B&id=A get its cached response"),
        None => ("unknown", "functions do not reject repeated parameters, or there was no response"),
    };
    report.observe("repeated_parameter", value, text);
    is_broken
}

/// Checks that a request with several values of a parameter is rejected. With the stage cache on, the function fails instead,
/// because the cache may store a response under the key of another request.
async fn check_rejected(
    inspection: &Inspection<'_>,
    ids: [&str; 2],
    expect_stage_cache: Option<bool>,
) -> Result<(), Mismatch> {
    let response = inspection.get(&item_request(&ids)).await?;
    if response.status == 500 && expect_stage_cache != Some(false) {
        return envelope::check_error(&response, 500).map(drop);
    }
    check_message(&response, 400, &["id"])
}

/// Whether ?id=A&id=B and ?id=B&id=A get the cached response to ?id=A. Functions reject both requests, so a success comes from
/// the stage cache. `None` if there was no response.
async fn values_in_cache_key(inspection: &Inspection<'_>) -> Option<[bool; 2]> {
    let [stored, other] = [(); 2].map(|()| inspection.unknown_item());
    // This mode ignores the id, which still belongs to the cache key.
    let target = |query: String| format!("{}?mode=flips&limit=1&{query}", BAZAAR.path);
    let first = inspection.get(&target(format!("id={stored}"))).await.ok()?;
    let mut is_replayed = [false; 2];
    let orders = [[&stored, &other], [&other, &stored]];
    for (is_replayed, [one, other]) in is_replayed.iter_mut().zip(orders) {
        let response = inspection.get(&target(format!("id={one}&id={other}"))).await.ok()?;
        *is_replayed = response.status == 200;
    }
    (first.status == 200).then_some(is_replayed)
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
    let response = inspection.get(&item_request(ids)).await?;
    let message = envelope::check_error(&response, 404)?;
    let quoted = message.split('\'').nth(1).map(str::to_owned);
    quoted.ok_or_else(|| Mismatch::new("a message that quotes the id", message))
}

/// The request for an item with each of `ids` as `id`.
fn item_request(ids: &[&str]) -> String {
    let query: Vec<String> = ids.iter().map(|id| format!("id={id}")).collect();
    format!("{}?mode=item&{}", BAZAAR.path, query.join("&"))
}
