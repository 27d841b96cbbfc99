//! Which settings each load needs.

use crate::assumptions::GATEWAY_RATE;
use crate::deployment::Deployment;
use crate::managed::{FEWEST_PROCESSES, REQUESTS_AT_A_TIME};

/// The loads of the table, in requests a second.
pub const LOADS: [f64; 5] = [1.0, 10.0, 100.0, 1_000.0, 10_000.0];

/// A deployment as it is by default, but without limits that one can move. It shows what a load needs.
#[must_use]
pub fn unlimited() -> Deployment {
    let no_limit = [f64::MAX, f64::MAX];
    Deployment {
        route: no_limit,
        key: no_limit,
        profile_fetches: f64::MAX,
        account_concurrency: f64::MAX,
        ..Deployment::default()
    }
}

/// Returns the settings that keep fetches from the provider below their bound at this load, and everything else within its limits.
#[must_use]
pub fn recommended(requests_per_s: f64) -> Deployment {
    if requests_per_s <= 100.0 {
        Deployment::default()
    } else if requests_per_s <= 1_000.0 {
        Deployment {
            route: [1_000.0, 2_000.0],
            provider_reserved: Some(1),
            reserved: [("bazaar", 20), ("profile", 10)].into(),
            ..Deployment::default()
        }
    } else {
        Deployment {
            route: [GATEWAY_RATE, GATEWAY_RATE],
            stage_cache_gb: 1.6,
            provider_reserved: Some(1),
            reserved: [("profile", 40)].into(),
            managed: [("bazaar", [FEWEST_PROCESSES, REQUESTS_AT_A_TIME])].into(),
            ..Deployment::default()
        }
    }
}
