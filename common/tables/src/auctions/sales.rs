//! Sales of several minutes. Lists of ended auctions overlap, and two minutes can have the same list.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use common::time::UnixSeconds;
use common::upstream::ended_auctions::COVERED;

use super::minute::{Sale, Sales};
use super::rows::RecordedMinute;

/// Returns the sales of the minutes from `from` on, each once. `minutes`: recorded minutes in order, beginning a few minutes before
/// `from`, so that a sale that they have does not count again.
#[must_use]
pub fn sales(minutes: &[RecordedMinute], from: UnixSeconds) -> Vec<&Sale> {
    let mut seen = HashSet::new();
    let mut counted = Vec::new();
    for minute in minutes {
        for sale in lists(std::slice::from_ref(minute)).flat_map(|sales| &sales.list) {
            if seen.insert(sale.auction) && minute.slot >= from {
                counted.push(sale);
            }
        }
    }
    counted
}

/// Returns for how much time the minutes have the sales: a list covers the minute before its refresh, and lists that overlap count
/// once.
#[must_use]
pub fn covered(minutes: &[RecordedMinute]) -> Duration {
    let refreshes: BTreeSet<_> = lists(minutes).map(|sales| sales.until).collect();
    let mut before = None;
    let mut covered = Duration::ZERO;
    for refresh in refreshes {
        covered += before.map_or(COVERED, |before| COVERED.min(refresh.distance(before)));
        before = Some(refresh);
    }
    covered
}

fn lists(minutes: &[RecordedMinute]) -> impl Iterator<Item = &Sales> {
    minutes.iter().filter_map(|minute| minute.sales.as_ref())
}
