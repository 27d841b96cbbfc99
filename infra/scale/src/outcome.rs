//! What a simulation counted.

use std::collections::BTreeMap;

use crate::figures::float;
use crate::histogram::Histogram;
use crate::provider::worst;

const MINUTE_S: f64 = 60.0;

/// Requests that were not answered as they should be.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Failures {
    /// 429: the account's limit of API Gateway.
    pub gateway: f64,
    /// 429: the throttle of the key's usage plan.
    pub key: f64,
    /// 429: the throttle of the route.
    pub route: f64,
    /// 500: Lambda had no instance for it.
    pub lambda: f64,
    /// 500: the provider's key was used up.
    pub provider: f64,
}

impl Failures {
    /// All of them.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.gateway + self.key + self.route + self.lambda + self.provider
    }
}

/// What a function did.
#[derive(Debug, Default, Clone, Copy)]
pub struct Work {
    /// How often it ran.
    pub invocations: f64,
    /// For how long it ran, as Lambda bills it, in GB-seconds.
    pub gigabyte_seconds: f64,
    /// Processor time in seconds.
    pub processor_s: f64,
    /// Instances that were started.
    pub cold_starts: f64,
    /// The most instances at once.
    pub instances: f64,
    /// Fetches from the provider.
    pub fetches: f64,
}

/// What a simulation counted, during the time that was measured.
#[derive(Debug)]
pub struct Outcome {
    /// How long that was, in seconds.
    pub seconds: f64,
    /// Requests that arrived.
    pub requests: f64,
    /// Requests that the stage cache answered.
    pub stage_cache_hits: f64,
    /// What each function did, by name.
    pub functions: BTreeMap<&'static str, Work>,
    /// Instances at a time on average.
    pub instances: f64,
    /// The most instances at a time.
    pub most_instances: f64,
    /// The most invocations at a time.
    pub most_concurrent: f64,
    /// The times of fetches from the provider.
    pub(crate) fetched_at: Vec<f64>,
    /// Requests for players' names.
    pub names: f64,
    /// Read units.
    pub read_units: f64,
    /// Bytes sent to clients, compressed.
    pub sent_bytes: f64,
    /// The most bytes in the stage cache.
    pub stage_cache_bytes: f64,
    /// Requests by failure.
    pub failures: Failures,
    pub(crate) latency: Histogram,
}

impl Outcome {
    pub(crate) fn new() -> Self {
        Self {
            seconds: 0.0,
            requests: 0.0,
            stage_cache_hits: 0.0,
            functions: BTreeMap::new(),
            instances: 0.0,
            most_instances: 0.0,
            most_concurrent: 0.0,
            fetched_at: Vec::new(),
            names: 0.0,
            read_units: 0.0,
            sent_bytes: 0.0,
            stage_cache_bytes: 0.0,
            failures: Failures::default(),
            latency: Histogram::new(),
        }
    }

    pub(crate) fn function(&mut self, name: &'static str) -> &mut Work {
        self.functions.entry(name).or_default()
    }

    /// Fetches from the provider.
    #[must_use]
    pub fn fetches(&self) -> f64 {
        float(self.fetched_at.len())
    }

    /// Fetches from the provider per second, on average.
    #[must_use]
    pub fn fetches_per_s(&self) -> f64 {
        self.fetches() / self.seconds
    }

    /// Fetches from the provider per second, in the worst minute.
    #[must_use]
    pub fn fetches_per_s_in_worst_minute(&self) -> f64 {
        worst(&self.fetched_at, MINUTE_S)
    }

    /// Fetches from the provider in the worst second.
    #[must_use]
    pub fn fetches_in_worst_second(&self) -> f64 {
        worst(&self.fetched_at, 1.0)
    }

    /// Invocations of all functions, the authorizer included.
    #[must_use]
    pub fn invocations(&self) -> f64 {
        self.functions.values().map(|work| work.invocations).sum()
    }

    /// Instances that were started.
    #[must_use]
    pub fn cold_starts(&self) -> f64 {
        self.functions.values().map(|work| work.cold_starts).sum()
    }

    /// The latency inside of AWS, in milliseconds, that this share of the answered requests does not exceed.
    #[must_use]
    pub fn latency_ms(&self, share: f64) -> f64 {
        self.latency.quantile(share)
    }
}
