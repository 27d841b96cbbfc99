//! What has happened to one cloud: what its upstream served, which faults it met, and which processes were killed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use simulator::Clock;

use super::prices::Served;
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

/// Part of the cause for a player whose profiles are too large for a response.
const TOO_LARGE: &str = "the body takes ";

/// How long after the start of its minute a recorder has recorded it at the latest, in seconds, if the clock does not jump.
const LONGEST_RUN: i64 = 60 + 50;

/// A line of a recorder about a tick that it has recorded.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) recorder: String,
    /// The tick in Unix seconds.
    pub(super) tick: i64,
    pub(super) outcome: Value,
    pub(super) logged: Moment,
}

impl Recorded {
    /// Whether the clock has jumped while the recorder worked. Then candles may be built from minutes before this one is written, which
    /// without jumps is written a minute earlier than that.
    pub(super) fn is_late(&self) -> bool {
        self.logged.cloud_ms / 1_000 > self.tick + LONGEST_RUN
    }
}

/// A body as history keeps it.
pub(super) struct Shown<T> {
    pub(super) requested: Moment,
    pub(super) sent: Moment,
    pub(super) content: T,
}

/// The quotes of the observed products.
pub(super) type Quotes = BTreeMap<&'static str, Quote>;

#[derive(Default)]
struct Entries {
    servings: HashMap<Source, Vec<Serving>>,
    failures: Vec<Failure>,
    /// Causes that the storm does not explain.
    unexplained: Vec<String>,
    /// When a page of auctions that exists was a 404, in Unix milliseconds.
    lost_pages: Vec<i64>,
    recorded: Vec<Recorded>,
    /// Recorders that have recorded something, or found nothing to record, and when they said so.
    ended: Vec<(String, Instant)>,
    quotes: Vec<Arc<Shown<Quotes>>>,
    sales: Vec<Arc<Shown<Vec<Value>>>>,
    mayors: BTreeMap<i64, Vec<Value>>,
    counts: BTreeMap<&'static str, u64>,
    /// Pages of auctions that are not yet in `served`.
    pages: Vec<Arc<Snapshot>>,
}

/// The journal of one cloud.
pub(super) struct Journal {
    pub(super) clock: Clock,
    /// The products whose history is checked.
    observed: Vec<&'static str>,
    entries: Mutex<Entries>,
    served: Mutex<Served>,
}

impl Journal {
    pub(super) fn new(clock: Clock, observed: Vec<&'static str>) -> Self {
        Self { clock, observed, entries: Mutex::default(), served: Mutex::default() }
    }

    pub(super) fn observed(&self) -> &[&'static str] {
        &self.observed
    }

    /// Notes a complete body, before it is sent.
    pub(super) fn serve(&self, snapshot: &Arc<Snapshot>, requested: Moment) {
        let sent = Moment::now(&self.clock);
        let quotes = match snapshot.facts() {
            Facts::Bazaar(market) => {
                self.observed.iter().filter_map(|id| Some((*id, market.quote(id)?))).collect()
            }
            Facts::Single(_) => Quotes::new(),
        };
        let mut entries = self.entries.lock().unwrap();
        match &snapshot.source {
            Source::Bazaar => entries.quotes.push(Arc::new(Shown { requested, sent, content: quotes })),
            Source::Auctions(_) => entries.pages.push(Arc::clone(snapshot)),
            Source::FireSales => {
                let body: Value = serde_json::from_str(&snapshot.text).unwrap();
                let content = body["sales"].as_array().unwrap().iter().filter_map(sale).collect();
                entries.sales.push(Arc::new(Shown { requested, sent, content }));
            }
            Source::Election => {
                let body: Value = serde_json::from_str(&snapshot.text).unwrap();
                let year = body["mayor"]["election"]["year"].as_i64().unwrap();
                let mayor = past_mayor(&body["mayor"]);
                let mayors = entries.mayors.entry(year).or_default();
                if !mayors.contains(&mayor) {
                    mayors.push(mayor);
                }
            }
            _ => {}
        }
        let serving = Serving { snapshot: Arc::clone(snapshot), requested, sent };
        entries.servings.entry(snapshot.source.clone()).or_default().push(serving);
    }

    /// Counts something that can make requests fail.
    pub(super) fn count(&self, kind: &'static str) {
        *self.entries.lock().unwrap().counts.entry(kind).or_default() += 1;
    }

    /// Notes that a page of auctions that exists was a 404.
    pub(super) fn lose_page(&self) {
        self.entries.lock().unwrap().lost_pages.push(self.clock.now_ms());
    }

    /// Notes the cause that a line gives for a failure of a function.
    pub(super) fn fail(&self, function: &str, cause: &str) {
        let is_known = CAUSES.iter().any(|part| cause.contains(part)) && !cause.contains("corrupt");
        let is_too_large = function == "profile" && cause.starts_with(TOO_LARGE);
        let failure = Failure { function: function.to_owned(), logged: Moment::now(&self.clock) };
        let mut entries = self.entries.lock().unwrap();
        entries.failures.push(failure);
        if !is_known && !is_too_large {
            entries.unexplained.push(format!("{function} failed: {cause}"));
        }
    }

    pub(super) fn record(&self, recorded: Recorded) {
        self.entries.lock().unwrap().recorded.push(recorded);
    }

    /// Notes that a run of a recorder has succeeded.
    pub(super) fn end(&self, recorder: &str) {
        self.entries.lock().unwrap().ended.push((recorder.to_owned(), Instant::now()));
    }

    /// Whether a run of the recorder has succeeded since then.
    pub(super) fn has_ended(&self, recorder: &str, since: Instant) -> bool {
        self.entries.lock().unwrap().ended.iter().any(|(name, logged)| name == recorder && *logged >= since)
    }

    /// What was served of a resource, the latest first.
    pub(super) fn servings(&self, source: &Source) -> Vec<Serving> {
        let entries = self.entries.lock().unwrap();
        entries.servings.get(source).into_iter().flatten().rev().cloned().collect()
    }

    /// Whether the function has logged a failure that matches.
    pub(super) fn has_failed(&self, function: &str, matches: impl Fn(&Failure) -> bool) -> bool {
        let entries = self.entries.lock().unwrap();
        entries.failures.iter().any(|failure| failure.function == function && matches(failure))
    }

    /// Causes of failures that the storm does not explain.
    pub(super) fn unexplained(&self) -> Vec<String> {
        self.entries.lock().unwrap().unexplained.clone()
    }

    /// Whether a page of auctions that exists was a 404 since this time in Unix milliseconds.
    pub(super) fn has_lost_page_since(&self, time_ms: i64) -> bool {
        self.entries.lock().unwrap().lost_pages.iter().any(|lost_ms| *lost_ms >= time_ms)
    }

    /// What `check` says about all auctions that were served so far.
    pub(super) fn with_served<T>(&self, check: impl FnOnce(&Served) -> T) -> T {
        let mut served = self.served.lock().unwrap();
        let pages = std::mem::take(&mut self.entries.lock().unwrap().pages);
        for page in pages {
            served.add(page.offers());
        }
        check(&served)
    }

    pub(super) fn recorded(&self) -> Vec<Recorded> {
        self.entries.lock().unwrap().recorded.clone()
    }

    pub(super) fn quotes(&self) -> Vec<Arc<Shown<Quotes>>> {
        self.entries.lock().unwrap().quotes.clone()
    }

    pub(super) fn sales(&self) -> Vec<Arc<Shown<Vec<Value>>>> {
        self.entries.lock().unwrap().sales.clone()
    }

    /// Whether the upstream has shown the mayor of this year so.
    pub(super) fn has_mayor(&self, year: i64, mayor: &Value) -> bool {
        let entries = self.entries.lock().unwrap();
        entries.mayors.get(&year).is_some_and(|mayors| mayors.contains(mayor))
    }

    /// How often each kind of trouble has happened.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.entries.lock().unwrap().counts.clone()
    }

    /// Forgets snapshots and failures that no response can depend on any more.
    pub(super) fn prune(&self) {
        let now = Moment::now(&self.clock);
        let is_kept = |then: Moment, kept_ms: i64| {
            now.real - then.real < Duration::from_mins(3) || now.cloud_ms - then.cloud_ms < kept_ms
        };
        let mut entries = self.entries.lock().unwrap();
        for (source, servings) in &mut entries.servings {
            let kept_ms = match source {
                Source::Bazaar => 5 * 60_000,
                Source::Auctions(_) | Source::EndedAuctions => 20 * 60_000,
                _ => 4 * 60 * 60_000,
            };
            servings.retain(|serving| is_kept(serving.sent, kept_ms));
        }
        entries.failures.retain(|failure| is_kept(failure.logged, 4 * 60 * 60_000));
    }
}
