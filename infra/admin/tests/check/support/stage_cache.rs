//! A stage cache in front of the cloud that has the faults of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use reqwest::Method;

use super::message::{Request, Response};

/// Longer than any run.
const FOREVER: Duration = Duration::from_hours(1);

/// The cache.
pub(crate) struct StageCache {
    /// The part of the target that belongs to the cache key.
    key: fn(&str) -> String,
    /// Whether a response is stored.
    stores: fn(&Request, &Response) -> bool,
    ttl: Duration,
    /// Whether the authorizer is asked even if a response is stored.
    pub(crate) authorizes: bool,
    /// Whether `Cache-Control` of clients bypasses the cache.
    obeys_clients: bool,
    /// Whether new responses have a trace id.
    traces: bool,
    stored: Mutex<HashMap<(String, String), (Instant, Response)>>,
    traced: AtomicUsize,
}

impl StageCache {
    /// A cache that is right but for `key` and `stores`.
    pub(crate) fn new(key: fn(&str) -> String, stores: fn(&Request, &Response) -> bool) -> Self {
        Self {
            key,
            stores,
            ttl: FOREVER,
            authorizes: true,
            obeys_clients: false,
            traces: false,
            stored: Mutex::default(),
            traced: AtomicUsize::new(0),
        }
    }

    pub(crate) fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    pub(crate) fn without_authorizer(self) -> Self {
        Self { authorizes: false, ..self }
    }

    pub(crate) fn obeying_clients(self) -> Self {
        Self { obeys_clients: true, ..self }
    }

    pub(crate) fn traced(self) -> Self {
        Self { traces: true, ..self }
    }

    /// Whether a cache handles the request.
    pub(crate) fn handles(request: &Request) -> bool {
        request.method == Method::GET && matches!(request.path(), "/v1/bazaar" | "/v1/mayor")
    }

    fn key_of(&self, request: &Request) -> (String, String) {
        let encoding = request.headers.get("accept-encoding").map(|value| value.to_str().unwrap());
        ((self.key)(&request.target), encoding.unwrap_or_default().to_owned())
    }

    /// The stored response to the request.
    pub(crate) fn get(&self, request: &Request) -> Option<Response> {
        if self.obeys_clients && request.headers.contains_key("cache-control") {
            return None;
        }
        let (stored_at, mut response) = self.stored.lock().unwrap().get(&self.key_of(request)).cloned()?;
        response.set("date", &httpdate::fmt_http_date(SystemTime::now()));
        (stored_at.elapsed() < self.ttl).then_some(response)
    }

    /// Stores a new response.
    pub(crate) fn put(&self, request: &Request, response: &mut Response) {
        if self.traces {
            let number = self.traced.fetch_add(1, Ordering::Relaxed);
            response.set("x-amzn-trace-id", &format!("Root={number}"));
        }
        if (self.stores)(request, response) {
            let entry = (Instant::now(), response.clone());
            self.stored.lock().unwrap().insert(self.key_of(request), entry);
        }
    }
}

/// The whole target, as in a correct cache.
pub(crate) fn target(target: &str) -> String {
    target.to_owned()
}

/// The path with the last value of each parameter.
pub(crate) fn last_values(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    format!("{path}?{pairs:?}")
}

/// The target without escapes, which joins parameters that are separate.
pub(crate) fn unescaped(target: &str) -> String {
    target.replace("%26", "&").replace("%3D", "=")
}

/// The path with the first value of each parameter.
pub(crate) fn first_values(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut pairs = Vec::<(&str, &str)>::new();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if !pairs.iter().any(|(known, _)| *known == name) {
            pairs.push((name, value));
        }
    }
    pairs.sort_unstable();
    format!("{path}?{pairs:?}")
}

/// Every error of the bazaar, also those of the gateway.
pub(crate) fn bazaar_errors(request: &Request, response: &Response) -> bool {
    response.status != 200 && request.path() == "/v1/bazaar"
}

/// Successes and errors of the bazaar, without the largest response.
pub(crate) fn bazaar(request: &Request, response: &Response) -> bool {
    let is_small = request.path() == "/v1/bazaar" && !request.target.contains("mode=full");
    is_small && !response.status.is_server_error()
}

/// Successes of the bazaar, however large they are.
pub(crate) fn all_bazaar_successes(request: &Request, response: &Response) -> bool {
    response.status == 200 && request.path() == "/v1/bazaar"
}

pub(crate) fn bazaar_successes(request: &Request, response: &Response) -> bool {
    response.status == 200 && bazaar(request, response)
}

pub(crate) fn mayor(request: &Request, response: &Response) -> bool {
    response.status == 200 && request.path() == "/v1/mayor"
}
