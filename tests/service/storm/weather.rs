//! Chooses the faults of a round of the storm at random.

use std::time::Duration;

use fastrand::Rng;
use local::{Fault, Refusal};

use super::upstream::Weather;

/// The write operations of recorders.
const RECORDING: [&str; 3] = ["BatchWriteItem", "PutItem", "UpdateItem"];

/// The jump of the clock after a round.
pub(super) fn jump(rng: &mut Rng) -> Duration {
    let seconds = match rng.u32(..16) {
        0..3 => 0,
        3 => 4,
        4 => 6,
        5 => 31,
        6..11 => 61,
        11 => 125,
        12 | 13 => 301,
        14 => 16 * 60,
        _ => *rng.choice(&[61 * 60, 61 * 60, 125 * 60, 200 * 60]).unwrap(),
    };
    Duration::from_secs(seconds)
}

pub(super) fn upstream(rng: &mut Rng, is_hanging: bool) -> Weather {
    let faults = *rng.choice(&[0, 50, 200, 400, 700, 950]).unwrap();
    Weather { faults, hangs: if is_hanging { 150 } else { 0 } }
}

/// The fault of the object with running auctions, and its new content: none, a part of the present one, or an
/// earlier one. Most rounds have no fault.
pub(super) fn object(
    rng: &mut Rng,
    present: &[u8],
    earlier: &mut Vec<u8>,
) -> Option<(&'static str, Option<Vec<u8>>)> {
    match rng.u32(..8) {
        0 => Some(("running auctions are missing", None)),
        1 if !present.is_empty() => {
            let length = rng.usize(..present.len());
            Some(("running auctions are cut", Some(present[..length].to_vec())))
        }
        2 if !earlier.is_empty() => Some(("running auctions are of another minute", Some(earlier.clone()))),
        3 => {
            present.clone_into(earlier);
            None
        }
        _ => None,
    }
}

/// The faults of DynamoDB. Most rounds have none.
pub(super) fn database(rng: &mut Rng, is_hanging: bool) -> Vec<(&'static str, Fault)> {
    let count = rng.u32(..5).saturating_sub(2);
    (0..count).map(|_| any_database_fault(rng, is_hanging)).collect()
}

fn any_database_fault(rng: &mut Rng, is_hanging: bool) -> (&'static str, Fault) {
    let times = rng.u64(1..12);
    match rng.u32(if is_hanging { ..7 } else { ..6 }) {
        0 => ("DynamoDB throttles", Fault::throttled().times(times)),
        1 => ("DynamoDB fails", Fault::refusal(Refusal::InternalServerError).times(times)),
        2 => ("DynamoDB is slow", Fault::delay(Duration::from_millis(rng.u64(5..300))).times(times)),
        3 => ("DynamoDB closes connections", Fault::close().times(times)),
        4 => {
            let processed = rng.usize(..20);
            ("DynamoDB processes batches in part", Fault::unprocessed_after(processed).times(times))
        }
        5 => ("DynamoDB misses a table", Fault::missing_table().times(times)),
        _ => {
            let operation = *rng.choice(&[&RECORDING[..], &["GetItem", "Query"]].concat()).unwrap();
            ("DynamoDB does not respond", Fault::hang().times(rng.u64(1..3)).on(operation))
        }
    }
}
