//! The journal of the storm: the bodies that the upstream served, the faults, and the failures that functions
//! logged.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use simulator::Clock;

use super::snapshot::Snapshot;
use super::source::Source;
use crate::oracle::Quote;
use crate::provider::{Data, ELECTION, FIRE_SALES, Facts};

/// The products whose history the storm checks. In every simulated world, the last one has orders at all
/// times; each of the others has none in one world of six.
pub(super) const OBSERVED: [&str; 4] = ["INK_SACK:3", "ENCHANTED_DIAMOND", "COAL", "BOOSTER_COOKIE"];

/// The longest time that the gateway waits for an invocation. The end of a fetch, and the storage in a stage
/// cache, can be this much later than the request.
pub(super) const INVOCATION_MS: i64 = 29_000;

/// A moment on both clocks: the real clock, and the cloud's clock, which jumps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) real: Instant,
    /// The cloud's time in Unix milliseconds.
    pub(super) cloud_ms: i64,
}

impl Moment {
    pub(super) fn now(clock: &Clock) -> Self {
        Self { real: Instant::now(), cloud_ms: clock.now_ms() }
    }
}

/// A complete body that the upstream sent.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) requested: Moment,
}

/// A log line about a function's failure.
#[derive(Debug)]
pub(super) struct Failure {
    function: String,
    pub(super) logged: Moment,
}

/// Parts of the causes of failures that the storm's faults or a busy machine can explain.
const CAUSES: [&str; 15] = [
    "no run of record-candles has written names",
    "no run of record-auctions has succeeded",
    "the file has not been replaced",
    "the bucket or folder refused the request",
    "the file is incomplete or has other content",
    "upstream",
    "the table ",
    "of another request did not end in time",
    "deadline",
    "took longer than",
    "no response within",
    "did not poll for an event within",
    "the process was killed",
    "the process ended",
    "the invocation failed: ",
];

/// A log line of `record-bazaar` about a recorded minute.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    /// The minute in Unix seconds.
    pub(super) tick: i64,
    pub(super) logged: Moment,
}

/// The quotes of the observed products.
pub(super) type Quotes = BTreeMap<&'static str, Quote>;

/// The part of a served body of the bazaar that recorders store.
pub(super) struct Shown {
    pub(super) requested: Moment,
    pub(super) content: Quotes,
}

#[derive(Default)]
pub(super) struct Entries {
    servings: HashMap<Source, Vec<Serving>>,
    failures: Vec<Failure>,
    /// Failures that the storm cannot cause.
    pub(super) unexplained: Vec<String>,
    /// The times at which an existing page of auctions was a 404, in Unix milliseconds.
    pub(super) lost_pages: Vec<i64>,
    pub(super) recorded: Vec<Recorded>,
    pub(super) quotes: Vec<Shown>,
    /// The mayors and sales that the history can have, without times.
    pub(super) shown: Vec<Value>,
    /// The number of occurrences of each kind of trouble.
    pub(super) counts: BTreeMap<String, u64>,
}

pub(super) struct Journal {
    pub(super) clock: Clock,
    entries: Mutex<Entries>,
}

impl Journal {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, entries: Mutex::default() }
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap()
    }

    /// Adds a complete body, before it is sent.
    pub(super) fn serve(&self, snapshot: &Arc<Snapshot>, requested: Moment) {
        let quotes = match snapshot.facts() {
            Facts::Bazaar(market) => {
                OBSERVED.iter().filter_map(|id| Some((*id, market.quote(id)?))).collect()
            }
            Facts::Single(_) => Quotes::new(),
        };
        let mut shown = match snapshot.facts() {
            Facts::Single(Some(Data::Parsed(data))) if snapshot.source.path == FIRE_SALES.path => {
                data["sales"].as_array().unwrap().clone()
            }
            Facts::Single(Some(Data::Parsed(data))) if snapshot.source.path == ELECTION.path => {
                vec![data["mayor"].clone()]
            }
            _ => Vec::new(),
        };
        // An entry in the history of fire sales has neither start nor end.
        for fields in shown.iter_mut().filter_map(Value::as_object_mut) {
            fields.retain(|name, _| name != "start" && name != "end");
        }
        let mut entries = self.entries();
        shown.retain(|shown| !entries.shown.contains(shown));
        entries.shown.extend(shown);
        if snapshot.source.is_bazaar() {
            entries.quotes.push(Shown { requested, content: quotes });
        }
        let serving = Serving { snapshot: Arc::clone(snapshot), requested };
        entries.servings.entry(snapshot.source.clone()).or_default().push(serving);
    }

    /// Counts a kind of trouble that can make requests fail.
    pub(super) fn count(&self, kind: &str) {
        *self.entries().counts.entry(kind.to_owned()).or_default() += 1;
    }

    /// Adds a function's failure, with the cause in its log line.
    pub(super) fn fail(&self, function: &str, cause: &str) {
        let is_known = CAUSES.iter().any(|part| cause.contains(part)) && !cause.contains("corrupt");
        let failure = Failure { function: function.to_owned(), logged: Moment::now(&self.clock) };
        let mut entries = self.entries();
        entries.failures.push(failure);
        if !is_known {
            entries.unexplained.push(format!("{function} failed: {cause}"));
        }
    }

    /// The bodies of a resource that were served, the latest first.
    pub(super) fn servings(&self, source: &Source) -> Vec<Serving> {
        self.entries().servings.get(source).into_iter().flatten().rev().cloned().collect()
    }

    /// Whether the function has logged a matching failure.
    pub(super) fn has_failed(&self, function: &str, matches: impl Fn(&Failure) -> bool) -> bool {
        self.entries().failures.iter().any(|failure| failure.function == function && matches(failure))
    }

    /// Removes snapshots and failures on which no later response can depend.
    pub(super) fn prune(&self) {
        let now = Moment::now(&self.clock);
        let is_kept = |then: Moment| {
            now.real - then.real < Duration::from_mins(3) || now.cloud_ms - then.cloud_ms < 4 * 60 * 60_000
        };
        let mut entries = self.entries();
        for servings in entries.servings.values_mut() {
            servings.retain(|serving| is_kept(serving.requested));
        }
        entries.failures.retain(|failure| is_kept(failure.logged));
    }
}
