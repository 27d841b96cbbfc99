//! Sales of several minutes. Lists of ended auctions overlap, and two minutes can have the same list. So a sale belongs to the time at which
//! the auction was won, and counts once.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use common::time::UnixSeconds;
use common::upstream::ended_auctions::COVERED;

use super::minute::{Sale, Sales};
use super::rows::RecordedMinute;

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

/// Returns for how much of the time between the two the minutes have the sales: a list covers the minute before its refresh, and lists
/// that overlap count once.
#[must_use]
pub fn covered(minutes: &[RecordedMinute], from: UnixSeconds, end: UnixSeconds) -> Duration {
    let refreshes: BTreeSet<_> = lists(minutes).map(|sales| sales.until.get()).collect();
    let [mut before, end] = [from, end].map(|time| time.get().saturating_mul(1_000));
    let mut covered = 0;
    for refresh in refreshes {
        let begin = refresh.saturating_sub(i64::try_from(COVERED.as_millis()).unwrap_or(0)).max(before);
        before = refresh.clamp(before, end.max(before));
        covered += before.saturating_sub(begin).max(0).unsigned_abs();
    }
    Duration::from_millis(covered)
}

fn lists(minutes: &[RecordedMinute]) -> impl Iterator<Item = &Sales> {
    minutes.iter().filter_map(|minute| minute.sales.as_ref())
}
