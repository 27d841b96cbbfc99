//! How often keys may ask. The template's parameters say it for a deployment; these are their defaults (a test compares).

use common::auth::Tier;

/// The defaults of a tier's usage plan.
struct Limit {
    tier: Tier,
    /// Requests a second in the long run.
    rate: u32,
    /// Requests at once after a pause.
    burst: u32,
}

const LIMITS: [Limit; 2] =
    [Limit { tier: Tier::Starter, rate: 2, burst: 60 }, Limit { tier: Tier::Pro, rate: 5, burst: 150 }];

/// What a reader has to know about limits.
pub(crate) fn sentences() -> String {
    let limits: Vec<String> = LIMITS
        .iter()
        .map(|Limit { tier, rate, burst }| {
            format!(
                "`{}` {rate} requests a second in the long run and {burst} at once after a pause",
                tier.name()
            )
        })
        .collect();
    format!(
        "A key's account has a tier, and the tier a limit, which is up to the operator; unless they chose otherwise: {}. \
         Answers from a cache count. Beyond the limit comes a 429 with `Retry-After`.",
        limits.join(", ")
    )
}
