//! The limits of keys. An operator sets them with the template's parameters; these are the defaults. A test compares them with
//! the template.

use common::auth::Tier;

/// The defaults of a tier's usage plan.
struct Limit {
    tier: Tier,
    /// Requests per second in the long run.
    rate: u32,
    /// Requests at once after a pause.
    burst: u32,
    /// Requests in a calendar month.
    quota: u32,
}

const LIMITS: [Limit; 2] = [
    Limit { tier: Tier::Starter, rate: 2, burst: 60, quota: 500_000 },
    Limit { tier: Tier::Pro, rate: 5, burst: 150, quota: 1_500_000 },
];

/// Returns what a reader must know about limits.
pub(crate) fn sentences() -> String {
    let limits = LIMITS.map(|Limit { tier, rate, burst, quota }| {
        let tier = tier.name();
        format!(
            "`{tier}` allows {rate} requests per second, {burst} at once after a pause, and {quota} in a calendar month (UTC)"
        )
    });
    format!(
        "The tier of a key's account determines its limit. By default, {}; the operator may have chosen other values. \
         Profiles have a limit of their own for each key, by default one request per second and 10 at once. \
         Responses from a cache count too. Requests beyond the limit get a 429 with `Retry-After`.",
        limits.join(", ")
    )
}
