//! Sales of several minutes. Lists of ended auctions overlap, and two minutes can have the same list. So a sale belongs to the time at which
//! the auction was won, and counts once.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use common::time::UnixSeconds;

use super::minute::{Sale, Sales};
use super::rows::RecordedMinute;

/// For how long sales that could not be recorded are kept for a later minute.
pub const SALES_KEPT: Duration = Duration::from_mins(15);

/// Returns the sales in the minutes of the time from `from` until before `end`, each once.
#[must_use]
pub fn sales(minutes: &[RecordedMinute], from: UnixSeconds, end: UnixSeconds) -> Vec<&Sale> {
    let mut seen = HashSet::new();
    let is_inside = |sale: &&Sale| {
        let time = UnixSeconds::from(sale.time);
        from <= time && time < end
    };
    lists(minutes)
        .flat_map(|sales| &sales.list)
        .filter(is_inside)
        .filter(|sale| seen.insert(sale.auction))
        .collect()
}

/// Returns for how much of the time between the two the minutes have the sales. Times that several of them cover count once.
#[must_use]
pub fn covered(minutes: &[RecordedMinute], from: UnixSeconds, end: UnixSeconds) -> Duration {
    let periods: BTreeSet<_> = lists(minutes).map(|sales| (sales.since.get(), sales.until.get())).collect();
    let [mut before, end] = [from, end].map(|time| time.get().saturating_mul(1_000));
    let mut covered = 0;
    for (since, until) in periods {
        let begin = since.max(before);
        before = until.clamp(before, end.max(before));
        covered += before.saturating_sub(begin).max(0).unsigned_abs();
    }
    Duration::from_millis(covered)
}

fn lists(minutes: &[RecordedMinute]) -> impl Iterator<Item = &Sales> {
    minutes.iter().filter_map(|minute| minute.sales.as_ref())
}
