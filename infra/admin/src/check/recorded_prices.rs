//! History and candles of items that were never recorded: a 200 with an empty list. The candles of such an item also show which
//! parameters belong to the cache key, because a request must not get the stored response of another one.

use common::routes::{BAZAAR_CANDLES, BAZAAR_HISTORY};
use conformance::Mismatch;
use serde_json::{Value, json};

use super::envelope;
use super::error_responses::check_message;
use super::inspection::Inspection;
use super::json::at;
use super::report::Report;

/// The parameters of the stored response, besides the item.
const STORED: [(&str, &str); 3] = [("interval", "1d"), ("before", "2026-11-21T00:00:00Z"), ("limit", "2")];
/// Another value for each parameter. Those of `before` and `limit` are not allowed, because they are not in the data.
const OTHER: [(&str, &str); 3] = [("interval", "3h"), ("before", "yesterday"), ("limit", "0")];

pub(super) async fn check(inspection: &Inspection<'_>, report: &mut Report) {
    for (path, list) in [(BAZAAR_HISTORY.path, "history"), (BAZAAR_CANDLES.path, "candles")] {
        let id = inspection.unknown_item();
        let response = empty_list(inspection, &format!("{path}?item_id={id}"), list).await;
        let result = response.and_then(|data| expect_field(&data, "item_id", &id));
        report.check(format!("unknown item GET {path}"), result);
    }
    let stored = inspection.unknown_item();
    let name = |parameter: &str| format!("cache key GET {} {parameter}", BAZAAR_CANDLES.path);
    let other = inspection.unknown_item();
    let result = check_value(inspection, &stored, ("item_id", &other)).await;
    report.check(name("item_id"), result);
    for (parameter, value) in OTHER {
        let result = check_value(inspection, &stored, (parameter, value)).await;
        report.check(name(parameter), result);
    }
}

/// Requests the candles of the item, and then with another value for the parameter. The second response must not be the first.
async fn check_value(
    inspection: &Inspection<'_>,
    id: &str,
    (parameter, value): (&str, &str),
) -> Result<(), Mismatch> {
    let target = |other: &str, value: &str| {
        let pairs = [("item_id", id)].into_iter().chain(STORED);
        let pairs =
            pairs.map(|(name, stored)| format!("{name}={}", if name == other { value } else { stored }));
        format!("{}?{}", BAZAAR_CANDLES.path, pairs.collect::<Vec<_>>().join("&"))
    };
    empty_list(inspection, &target("", ""), "candles").await?;
    let changed = target(parameter, value);
    if matches!(parameter, "before" | "limit") {
        return check_message(&inspection.get(&changed).await?, 400, &[parameter, value]);
    }
    expect_field(&empty_list(inspection, &changed, "candles").await?, parameter, value)
}

/// Returns the data of the response, in which the list is empty.
async fn empty_list(inspection: &Inspection<'_>, target: &str, list: &str) -> Result<Value, Mismatch> {
    let data = envelope::check_success(&inspection.get(target).await?)?;
    let received = data.get(list).cloned().unwrap_or_default();
    if received == json!([]) {
        Ok(data)
    } else {
        Err(Mismatch::new(format!("data with an empty list {list}"), conformance::excerpt(&data.to_string())))
    }
}

fn expect_field(data: &Value, name: &str, value: &str) -> Result<(), Mismatch> {
    let received = at(data, &format!("/{name}"));
    if received == value {
        Ok(())
    } else {
        Err(Mismatch::new(format!("data with {name} {value}"), format!("{name} {received}")))
    }
}
