//! Dollars a month at the list prices of us-east-1 without free tiers, as in the section "Cost" of `infra/README.md`.

use crate::deployment::Deployment;
use crate::outcome::Outcome;

/// A month has 730 hours.
pub const HOURS: f64 = 730.0;
const SECONDS: f64 = HOURS * 3_600.0;
const MILLION: f64 = 1e6;
const GIGABYTE: f64 = 1e9;

/// What is independent of the load: recording with its tables, the recorders, alarms and the secret.
pub const FIXED: f64 = 17.4;
/// The stage cache per hour, by its size in GB.
pub const STAGE_CACHE_PER_HOUR: [(f64, f64); 8] = [
    (0.5, 0.02),
    (1.6, 0.038),
    (6.1, 0.20),
    (13.5, 0.25),
    (28.4, 0.50),
    (58.2, 1.00),
    (118.0, 1.90),
    (237.0, 3.80),
];
/// API Gateway per million requests, up to that many million in a month.
pub const GATEWAY: [(f64, f64); 4] =
    [(333.0, 3.50), (1_000.0, 2.80), (20_000.0, 2.38), (f64::INFINITY, 1.51)];
/// A line in the access log for each of a million requests.
pub const ACCESS_LOG: f64 = 0.30;
/// A million invocations.
pub const INVOCATIONS: f64 = 0.20;
/// A million lines in the log of the functions.
pub const FUNCTION_LOG: f64 = 0.35;
/// A GB-second on arm64.
pub const GIGABYTE_SECOND: f64 = 0.000_013_333_4;
/// A million read units.
pub const READ_UNITS: f64 = 0.125;
/// A GB sent, up to that many GB in a month; the first hundred are free.
pub const SENT: [(f64, f64); 5] =
    [(100.0, 0.0), (10_240.0, 0.09), (51_200.0, 0.085), (153_600.0, 0.07), (f64::INFINITY, 0.05)];

/// Dollars a month.
#[derive(Debug, Clone, Copy)]
pub struct Dollars {
    /// What is independent of the load.
    pub fixed: f64,
    /// The stage cache.
    pub stage_cache: f64,
    /// API Gateway and the access log.
    pub gateway: f64,
    /// The functions and their log.
    pub functions: f64,
    /// Read units.
    pub reads: f64,
    /// Data sent to clients.
    pub sent: f64,
}

impl Dollars {
    /// Returns what a month costs in which everything is as in this outcome.
    #[must_use]
    pub fn of(outcome: &Outcome, deployment: &Deployment) -> Self {
        let a_month = |count: f64| count / outcome.seconds * SECONDS;
        let millions = |count: f64| a_month(count) / MILLION;
        let gigabyte_seconds: f64 = outcome.functions.values().map(|work| work.gigabyte_seconds).sum();
        let requests = millions(outcome.requests);
        Self {
            fixed: FIXED,
            stage_cache: stage_cache(deployment),
            gateway: tiered(requests, &GATEWAY) + requests * ACCESS_LOG,
            functions: millions(outcome.invocations()) * (INVOCATIONS + FUNCTION_LOG)
                + a_month(gigabyte_seconds) * GIGABYTE_SECOND,
            reads: millions(outcome.read_units) * READ_UNITS,
            sent: tiered(a_month(outcome.sent_bytes) / GIGABYTE, &SENT),
        }
    }

    /// The sum.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.fixed + self.stage_cache + self.gateway + self.functions + self.reads + self.sent
    }
}

fn stage_cache(deployment: &Deployment) -> f64 {
    let mut sizes = STAGE_CACHE_PER_HOUR.iter().filter(|(size, _)| *size >= deployment.stage_cache_gb);
    let price = sizes.next().map_or(0.0, |(_, dollars)| *dollars);
    if deployment.stage_cache { price * HOURS } else { 0.0 }
}

fn tiered(amount: f64, tiers: &[(f64, f64)]) -> f64 {
    let mut from = 0.0;
    let mut dollars = 0.0;
    for (to, price) in tiers {
        dollars += (amount.min(*to) - from).max(0.0) * price;
        from = *to;
    }
    dollars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_has_its_price() {
        for (amount, dollars) in [(1.0, 3.5), (333.0, 1_165.5), (1_000.0, 3_033.1), (2_000.0, 5_413.1)] {
            assert!((tiered(amount, &GATEWAY) - dollars).abs() < 1e-6, "{amount}");
        }
        assert!((tiered(500.0, &SENT) - 36.0).abs() < 1e-6);
    }
}
