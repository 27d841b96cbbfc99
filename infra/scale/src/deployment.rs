//! What is deployed: the functions, and the parameters of the template. A test compares both with the template and the code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::assumptions::{ACCOUNT_CONCURRENCY, PROFILE_FETCHES};
use crate::template;

/// Where the data of a function comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The provider, without a key.
    Provider,
    /// The name service, and the provider with its key.
    Players,
    /// A table.
    Table,
}

/// A function that answers requests, or decides on keys.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// The name of its crate.
    pub name: &'static str,
    /// `MemorySize` in the template.
    pub memory_mb: f64,
    /// The TTL of its route in seconds; of the authorizer, for how long the gateway remembers a decision.
    pub ttl_s: f64,
    /// Where its data comes from.
    pub source: Source,
    /// Every how many seconds the provider has news, if that is longer than the TTL. Auctions are not among them: the provider's
    /// caches return pages that are up to 60 s old, so an instance fetches most of them after the TTL.
    pub news_s: Option<f64>,
    /// How many bytes of different responses an instance keeps. Infinite if it keeps one snapshot for all of them.
    pub kept_bytes: f64,
}

const MEBIBYTE: f64 = 1_048_576.0;

fn function(name: &'static str, ttl_s: f64, source: Source) -> Function {
    let memory_mb = template::memory_mb(name).unwrap_or_default();
    Function { name, memory_mb, ttl_s, source, news_s: None, kept_bytes: f64::INFINITY }
}

/// The functions with a route that clients use steadily, and the authorizer at the end.
pub static FUNCTIONS: LazyLock<[Function; 12]> = LazyLock::new(|| {
    [
        Function { news_s: Some(20.0), ..function("bazaar", 5.0, Source::Provider) },
        Function { kept_bytes: 24.0 * MEBIBYTE, ..function("auctions", 30.0, Source::Provider) },
        Function { kept_bytes: 16.0 * MEBIBYTE, ..function("profile", 900.0, Source::Players) },
        function("mayor", 300.0, Source::Provider),
        function("fire-sales", 60.0, Source::Provider),
        function("collections", 3_600.0, Source::Provider),
        function("items", 3_600.0, Source::Provider),
        Function { kept_bytes: 16.0 * MEBIBYTE, ..function("bazaar-history", 300.0, Source::Table) },
        Function { kept_bytes: 16.0 * MEBIBYTE, ..function("bazaar-candles", 300.0, Source::Table) },
        function("mayor-history", 300.0, Source::Table),
        function("fire-sales-history", 300.0, Source::Table),
        function(AUTHORIZER, 60.0, Source::Table),
    ]
});

/// The function that decides on keys. It keeps nothing.
pub const AUTHORIZER: &str = "authorizer";

/// The settings that an operator chooses.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// `GatewayCache`.
    pub stage_cache: bool,
    /// `CacheSize` in GB.
    pub stage_cache_gb: f64,
    /// `RouteRateLimit` and `RouteBurstLimit`.
    pub route: [f64; 2],
    /// `ProRateLimit` and `ProBurstLimit`.
    pub key: [f64; 2],
    /// `ProviderReservedConcurrency`; `None` for no reservation.
    pub provider_reserved: Option<u32>,
    /// The account's quota of concurrent executions.
    pub account_concurrency: f64,
    /// How many profiles the provider's key may fetch in a window.
    pub profile_fetches: f64,
    /// Whether an instance behind the stage cache keeps what it fetched until the provider has news.
    pub until_news: bool,
    /// Whether an instance spreads fetches of profiles over the window of the provider's limit.
    pub paced: bool,
    /// The reservations of functions that differ from `provider_reserved`, by name.
    pub reserved: BTreeMap<&'static str, u32>,
    /// Functions on Managed Instances: how many processes each has, and how many requests each process takes at a time.
    pub managed: BTreeMap<&'static str, [u32; 2]>,
}

impl Default for Deployment {
    /// The template's defaults.
    fn default() -> Self {
        Self {
            stage_cache: true,
            stage_cache_gb: 0.5,
            route: [200.0, 400.0],
            key: [5.0, 150.0],
            provider_reserved: None,
            account_concurrency: ACCOUNT_CONCURRENCY,
            profile_fetches: PROFILE_FETCHES,
            until_news: true,
            paced: true,
            reserved: BTreeMap::new(),
            managed: BTreeMap::new(),
        }
    }
}

impl Deployment {
    /// The concurrency that is reserved for a function, which is also its maximum.
    #[must_use]
    pub fn reserved(&self, function: &Function) -> Option<u32> {
        if self.managed.contains_key(function.name) {
            return None;
        }
        let fetches = matches!(function.source, Source::Provider | Source::Players);
        self.reserved.get(function.name).copied().or(self.provider_reserved.filter(|_| fetches))
    }
}
