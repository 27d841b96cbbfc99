//! What has happened to one cloud: what its upstream served, which faults it met, and which processes were killed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use simulator::Clock;

use super::expected::{Facts, Quote, past_mayor, sale};
use super::snapshot::{Snapshot, Source};

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

/// Something that can make requests fail.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    /// The function that fails or whose refresh fails.
    pub(super) function: &'static str,
    pub(super) kind: &'static str,
    pub(super) began: Moment,
    /// Until when it can make requests fail.
    pub(super) until: Moment,
}

/// A line of a recorder about a tick that it has recorded.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) recorder: String,
    /// The tick in Unix seconds.
    pub(super) tick: i64,
    pub(super) outcome: Value,
    pub(super) logged: Instant,
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
    troubles: Vec<Trouble>,
    recorded: Vec<Recorded>,
    quotes: Vec<Arc<Shown<Quotes>>>,
    sales: Vec<Arc<Shown<Vec<Value>>>>,
    mayors: BTreeMap<i64, Vec<Value>>,
    counts: BTreeMap<&'static str, u64>,
}

/// The journal of one cloud.
pub(super) struct Journal {
    pub(super) clock: Clock,
    /// The products whose history is checked.
    observed: Vec<&'static str>,
    entries: Mutex<Entries>,
}

impl Journal {
    pub(super) fn new(clock: Clock, observed: Vec<&'static str>) -> Self {
        Self { clock, observed, entries: Mutex::default() }
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

    /// Notes a fault of the upstream, which can make requests of a function fail for `lasting`.
    pub(super) fn fault(&self, function: &'static str, kind: &'static str, lasting: Option<Duration>) {
        match lasting {
            Some(lasting) => self.trouble(function, kind, lasting),
            None => *self.entries.lock().unwrap().counts.entry(kind).or_default() += 1,
        }
    }

    /// Notes something that can make requests of a function fail for `lasting`, on either clock.
    pub(super) fn trouble(&self, function: &'static str, kind: &'static str, lasting: Duration) {
        self.trouble_for(&[function], kind, lasting);
    }

    /// The same for several functions.
    pub(super) fn trouble_for(&self, functions: &[&'static str], kind: &'static str, lasting: Duration) {
        let began = Moment::now(&self.clock);
        let lasting_ms = i64::try_from(lasting.as_millis()).unwrap();
        let until = Moment { real: began.real + lasting, cloud_ms: began.cloud_ms + lasting_ms };
        let mut entries = self.entries.lock().unwrap();
        *entries.counts.entry(kind).or_default() += 1;
        let troubles = functions.iter().map(|function| Trouble { function, kind, began, until });
        entries.troubles.extend(troubles);
    }

    pub(super) fn record(&self, recorded: Recorded) {
        self.entries.lock().unwrap().recorded.push(recorded);
    }

    /// What was served of a resource, the latest first.
    pub(super) fn servings(&self, source: &Source) -> Vec<Serving> {
        let entries = self.entries.lock().unwrap();
        entries.servings.get(source).into_iter().flatten().rev().cloned().collect()
    }

    /// Whether there was trouble with the function that matches.
    pub(super) fn had_trouble(&self, function: &str, matches: impl Fn(&Trouble) -> bool) -> bool {
        let entries = self.entries.lock().unwrap();
        entries.troubles.iter().any(|trouble| trouble.function == function && matches(trouble))
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

    /// Forgets snapshots and troubles that no response can depend on any more.
    pub(super) fn prune(&self) {
        let now = Moment::now(&self.clock);
        let mut entries = self.entries.lock().unwrap();
        for (source, servings) in &mut entries.servings {
            let kept_ms = match source {
                Source::Bazaar => 5 * 60_000,
                Source::Auctions(_) => 20 * 60_000,
                _ => 4 * 60 * 60_000,
            };
            servings.retain(|serving| {
                now.real - serving.sent.real < Duration::from_secs(30)
                    || now.cloud_ms - serving.sent.cloud_ms < kept_ms
            });
        }
        entries.troubles.retain(|trouble| {
            now.real - trouble.until.real < Duration::from_secs(30)
                || now.cloud_ms - trouble.until.cloud_ms < 4 * 60 * 60_000
        });
    }
}
