//! The names of the items that have a price in the past, as `record-candles` would have written them.

use std::collections::BTreeMap;

use common::time::UnixSeconds;
use serde_json::{Value, from_str};
use tables::Table;
use tables::names::{build, plain, store};

use super::past::TIMEOUT;
use super::progress::{NAMES, Progress};

/// Records the names of the items that have a price so far.
pub(super) async fn record(
    table: &Table,
    catalogue: &BTreeMap<String, String>,
    now: UnixSeconds,
    progress: &Progress,
) {
    let record = async || {
        store(table.with_timeout(TIMEOUT), &build(table.with_timeout(TIMEOUT), now, catalogue).await?).await
    };
    progress.retry(NAMES, record).await;
}

/// Returns the names in the simulated catalogue by id.
pub(super) fn catalogue(seed: u64, now: UnixSeconds) -> BTreeMap<String, String> {
    let body: Value = from_str(&simulator::items::body(seed, now.get() * 1_000)).unwrap_or_default();
    let name =
        |item: &Value| Some((item.get("id")?.as_str()?.to_owned(), plain(item.get("name")?.as_str()?)));
    body.get("items").and_then(Value::as_array).into_iter().flatten().filter_map(name).collect()
}
