//! The limits of a deployment: how much of each a load takes, and what moves it.

use crate::assumptions::{
    API_KEYS, FETCHES_PER_S, GATEWAY_RATE, INVOCATIONS_PER_CONCURRENCY, ISSUED_PER_KEY_IN_USE,
    PROFILE_FETCHES, PROFILE_WINDOW_S, TABLE_UNITS_PER_S,
};
use crate::deployment::Deployment;
use crate::outcome::Outcome;
use crate::workload::{KINDS, keys_in_use};

const GIGABYTE: f64 = 1e9;

/// A limit.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// What is limited.
    pub name: &'static str,
    /// How much there may be.
    pub most: f64,
    /// How much there would be if nothing was limited.
    pub needed: f64,
    /// The parameter or quota that moves it.
    pub moved_by: &'static str,
}

impl Limit {
    /// The share of the limit that is needed. Above 1, the limit breaks.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.needed / self.most
    }
}

/// Returns the limits of `deployment`, the scarcest first. `outcome` is that of a deployment without throttles, and `players` how
/// many fetches of profiles a second it would have if the provider did not limit them.
#[must_use]
pub fn limits(requests_per_s: f64, deployment: &Deployment, outcome: &Outcome, players: f64) -> Vec<Limit> {
    let [route_rate, _] = deployment.route;
    let limit = |name, most, needed, moved_by| Limit { name, most, needed, moved_by };
    let mut limits = vec![
        limit(
            "requests to one route a second",
            route_rate,
            busiest_route(requests_per_s),
            "`RouteRateLimit`",
        ),
        limit(
            "requests of the account a second",
            GATEWAY_RATE,
            requests_per_s,
            "the quota `Throttle rate` of API Gateway",
        ),
        limit(
            "API keys",
            API_KEYS,
            f64::from(keys_in_use(requests_per_s)) * ISSUED_PER_KEY_IN_USE,
            "another account or region",
        ),
        limit(
            "concurrent executions",
            deployment.account_concurrency,
            outcome.most_concurrent,
            "the quota `Concurrent executions` of Lambda",
        ),
        limit(
            "invocations a second",
            deployment.account_concurrency * INVOCATIONS_PER_CONCURRENCY,
            outcome.invocations() / outcome.seconds,
            "the quota `Concurrent executions` of Lambda",
        ),
        limit(
            "GB in the stage cache",
            deployment.stage_cache_gb,
            outcome.stage_cache_bytes / GIGABYTE,
            "`CacheSize`",
        ),
        limit(
            "read units a second",
            TABLE_UNITS_PER_S,
            outcome.read_units / outcome.seconds,
            "the quota of the table in DynamoDB",
        ),
        limit(
            "profiles fetched a second",
            PROFILE_FETCHES / PROFILE_WINDOW_S,
            players,
            "the limit of the provider's key",
        ),
        limit(
            "fetches a second",
            FETCHES_PER_S,
            outcome.fetches_per_s_in_worst_minute(),
            "see [the provider](#the-provider)",
        ),
    ];
    limits.sort_by(|one, other| other.share().total_cmp(&one.share()));
    limits
}

/// Requests a second to the route that has the most.
fn busiest_route(requests_per_s: f64) -> f64 {
    let of_function =
        |name: &str| KINDS.iter().filter(|kind| kind.function == name).map(|kind| kind.percent).sum::<f64>();
    let busiest = KINDS.iter().map(|kind| of_function(kind.function)).fold(0.0, f64::max);
    requests_per_s * busiest / 100.0
}
