//! What has happened to the cloud: what its upstream served, which faults it met, and which processes were killed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use simulator::Clock;

use super::history::OBSERVED;
use super::snapshot::Snapshot;
use crate::oracle::{Facts, Quote, Source, past_mayor, sale};

/// A moment on both clocks: the real one, and the cloud's, which jumps.
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
    pub(super) sent: Moment,
}

/// A line about a failure of a function.
#[derive(Debug)]
pub(super) struct Failure {
    function: String,
    pub(super) logged: Moment,
}

/// Parts of the causes that faults of the storm have, or a machine that is too busy.
const CAUSES: [&str; 10] = [
    "no run of record-auctions has succeeded",
    "upstream",
    "the table ",
    "of another request did not end in time",
    "deadline",
    "took longer than",
    "no response within",
    "the process was killed",
    "the process ended",
    "the invocation failed: ",
];

/// A line of `record-bazaar` about a minute that it has recorded.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    /// The minute in Unix seconds.
    pub(super) tick: i64,
    pub(super) logged: Moment,
}

/// The quotes of the observed products.
pub(super) type Quotes = BTreeMap<&'static str, Quote>;

/// A body of the bazaar, as history keeps it.
pub(super) struct Shown {
    pub(super) requested: Moment,
    pub(super) sent: Moment,
    pub(super) content: Quotes,
}

#[derive(Default)]
pub(super) struct Entries {
    servings: HashMap<Source, Vec<Serving>>,
    failures: Vec<Failure>,
    /// Causes that the storm does not explain.
    pub(super) unexplained: Vec<String>,
    /// When a page of auctions that exists was a 404, in Unix milliseconds.
    pub(super) lost_pages: Vec<i64>,
    pub(super) recorded: Vec<Recorded>,
    pub(super) quotes: Vec<Shown>,
    /// The mayors and sales that history can have, without times.
    pub(super) shown: Vec<Value>,
    /// How often each kind of trouble has happened.
    pub(super) counts: BTreeMap<String, u64>,
}

/// The journal of the cloud.
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

    /// Notes a complete body, before it is sent.
    pub(super) fn serve(&self, snapshot: &Arc<Snapshot>, requested: Moment) {
        let sent = Moment::now(&self.clock);
        let quotes = match snapshot.facts() {
            Facts::Bazaar(market) => {
                OBSERVED.iter().filter_map(|id| Some((*id, market.quote(id)?))).collect()
            }
            Facts::Single(_) => Quotes::new(),
        };
        let body = || serde_json::from_str::<Value>(&snapshot.text).unwrap();
        let mut shown = match &snapshot.source {
            Source::FireSales => body()["sales"].as_array().unwrap().iter().filter_map(sale).collect(),
            Source::Election => vec![past_mayor(&body()["mayor"])],
            _ => Vec::new(),
        };
        // History has no times of sales.
        for fields in shown.iter_mut().filter_map(Value::as_object_mut) {
            fields.retain(|name, _| name != "start" && name != "end");
        }
        let mut entries = self.entries();
        shown.retain(|shown| !entries.shown.contains(shown));
        entries.shown.extend(shown);
        if snapshot.source == Source::Bazaar {
            entries.quotes.push(Shown { requested, sent, content: quotes });
        }
        let serving = Serving { snapshot: Arc::clone(snapshot), requested, sent };
        entries.servings.entry(snapshot.source.clone()).or_default().push(serving);
    }

    /// Counts something that can make requests fail.
    pub(super) fn count(&self, kind: &str) {
        *self.entries().counts.entry(kind.to_owned()).or_default() += 1;
    }

    /// Notes the cause that a line gives for a failure of a function.
    pub(super) fn fail(&self, function: &str, cause: &str) {
        let is_known = CAUSES.iter().any(|part| cause.contains(part)) && !cause.contains("corrupt");
        let failure = Failure { function: function.to_owned(), logged: Moment::now(&self.clock) };
        let mut entries = self.entries();
        entries.failures.push(failure);
        if !is_known {
            entries.unexplained.push(format!("{function} failed: {cause}"));
        }
    }

    /// What was served of a resource, the latest first.
    pub(super) fn servings(&self, source: &Source) -> Vec<Serving> {
        self.entries().servings.get(source).into_iter().flatten().rev().cloned().collect()
    }

    /// Whether the function has logged a failure that matches.
    pub(super) fn has_failed(&self, function: &str, matches: impl Fn(&Failure) -> bool) -> bool {
        self.entries().failures.iter().any(|failure| failure.function == function && matches(failure))
    }

    /// Forgets snapshots and failures that no response can depend on any more.
    pub(super) fn prune(&self) {
        let now = Moment::now(&self.clock);
        let is_kept = |then: Moment| {
            now.real - then.real < Duration::from_mins(3) || now.cloud_ms - then.cloud_ms < 4 * 60 * 60_000
        };
        let mut entries = self.entries();
        for servings in entries.servings.values_mut() {
            servings.retain(|serving| is_kept(serving.sent));
        }
        entries.failures.retain(|failure| is_kept(failure.logged));
    }
}
