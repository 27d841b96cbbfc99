//! What to simulate.

use crate::assumptions::{COLD_START_MS, NAMES_MS, PROVIDER_MS, TABLE_MS, VARIES};
use crate::workload::Kind;

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'kinds> {
    /// The kinds of requests.
    pub kinds: &'kinds [Kind],
    /// Requests a second.
    pub requests_per_s: f64,
    /// How many keys are in use.
    pub keys: u32,
    /// How long a function waits.
    pub waits: Waits,
    /// For how many seconds requests arrive before anything is counted. With 0, everything is cold at the start.
    pub warm_up_s: f64,
    /// For how many seconds everything is counted.
    pub measured_s: f64,
    /// The seed of the requests.
    pub seed: u64,
}

/// How long a function waits, on average, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// For the start of an instance.
    pub start: f64,
    /// For the provider.
    pub provider: f64,
    /// For the name service.
    pub names: f64,
    /// For a table.
    pub table: f64,
    /// The share of a wait that varies, except for a start.
    pub varies: f64,
    /// The seed of what varies.
    pub seed: u64,
}

impl Default for Waits {
    /// What is assumed of AWS and the provider.
    fn default() -> Self {
        Self {
            start: COLD_START_MS,
            provider: PROVIDER_MS,
            names: NAMES_MS,
            table: TABLE_MS,
            varies: VARIES,
            seed: 2,
        }
    }
}
