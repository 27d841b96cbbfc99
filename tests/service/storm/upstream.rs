//! The upstream of the storm is the simulator, with random faults, and keeps a journal.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use simulator::{Fault, Options, Simulator, names};

use super::journal::{Journal, Moment};
use super::snapshot::Game;
use super::source::Source;
use crate::provider::parsed;

const NAME_SERVICE: &str = "/users/profiles/minecraft/";

/// The probability of faults.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weather {
    /// Faults per 1,000 requests.
    pub(super) faults: u32,
    /// Hanging requests per 1,000 faults.
    pub(super) hangs: u32,
}

impl Weather {
    pub(super) const CALM: Self = Self { faults: 0, hangs: 0 };
}

/// Statuses that something in front of the provider sends, or that the provider sends while a refresh makes a
/// path unavailable for a moment.
const STATUSES: [u16; 12] = [500, 502, 503, 504, 301, 400, 401, 403, 404, 404, 422, 530];

/// Bodies that are not valid responses, with their statuses.
const BODIES: [(u16, &str); 4] = [
    (200, "<!DOCTYPE html><html>maintenance</html>"),
    (403, "<!DOCTYPE html><html>maintenance</html>"),
    (200, r#"{"success":false,"cause":"maintenance"}"#),
    (
        200,
        r#"{"success":true,"lastUpdated":"soon","products":[1],"auctions":{},"mayor":7,"items":"none","sales":3}"#,
    ),
];

#[derive(Debug, Clone, Copy)]
enum Trouble {
    /// Another status or body.
    Other(u16, &'static str),
    HalfJson,
    Cut,
    Close,
    RateLimit(u64),
    Hang,
    /// A good body, but this many milliseconds late.
    Slow(u64),
    /// A 404 for a page that exists.
    LostPage,
    /// The rows of the previous page.
    RepeatedPage,
    /// A body with some unusable rows.
    SomeRows,
    MostRows,
}

impl Trouble {
    /// Random trouble that the source can have, or none.
    fn any(rng: &mut Rng, weather: Weather, source: &Source) -> Option<Self> {
        if rng.u32(..1_000) >= weather.faults {
            return None;
        }
        if rng.u32(..1_000) < weather.hangs {
            return Some(Self::Hang);
        }
        let kinds = match source.page() {
            Some(1..) => 16,
            Some(0) => 15,
            None if parsed().any(|resource| resource.path == source.path) => 14,
            None => 12,
        };
        Some(match rng.u32(..kinds) {
            0..3 => Self::Other(*rng.choice(&STATUSES).unwrap(), "junk"),
            3..6 => {
                let (status, body) = *rng.choice(&BODIES).unwrap();
                Self::Other(status, body)
            }
            6 => Self::HalfJson,
            7 => Self::Cut,
            8 => Self::Close,
            9 => Self::RateLimit(rng.u64(1..20)),
            10 | 11 => {
                let longest = if weather.hangs > 0 { 6_000 } else { 1_500 };
                Self::Slow(rng.u64(50..longest))
            }
            12 => Self::SomeRows,
            13 => Self::MostRows,
            14 => Self::LostPage,
            _ => Self::RepeatedPage,
        })
    }
}

pub(super) struct Upstream {
    pub(super) simulator: Simulator,
    shared: Arc<Shared>,
}

struct Shared {
    game: Game,
    journal: Arc<Journal>,
    weather: Mutex<Weather>,
    rng: Mutex<Rng>,
}

impl Upstream {
    pub(super) async fn start(journal: Arc<Journal>, seed: u64) -> Self {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let clock = journal.clock.clone();
        let simulator = Simulator::start(Options { seed, address, clock }).await.unwrap();
        let shared = Arc::new(Shared {
            game: Game::new(seed),
            journal,
            weather: Mutex::new(Weather::CALM),
            rng: Mutex::new(Rng::with_seed(seed)),
        });
        let choosing = Arc::clone(&shared);
        simulator.choose_faults(move |path, query| choosing.fault(path, query));
        Self { simulator, shared }
    }

    pub(super) fn set(&self, weather: Weather) {
        *self.shared.weather.lock().unwrap() = weather;
    }
}

impl Shared {
    /// The response to a request, also without trouble: the journal must know the body.
    fn fault(&self, path: &str, query: &str) -> Fault {
        let requested = Moment::now(&self.journal.clock);
        let parameter = query.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
        let source = Source::with(path, parameter);
        let (trouble, mut rng) = {
            let mut rng = self.rng.lock().unwrap();
            let weather = *self.weather.lock().unwrap();
            (Trouble::any(&mut rng, weather, &source), rng.fork())
        };
        if let Some(trouble) = trouble {
            // Counts the trouble without its parameters.
            self.journal.count(format!("{trouble:?}").split('(').next().unwrap());
        }
        match trouble {
            Some(Trouble::Hang) => Fault::hang(),
            Some(Trouble::Close) => Fault::close(),
            Some(Trouble::Other(status, body)) => Fault::status(status).with_body(body),
            Some(Trouble::RateLimit(seconds)) => Fault::status(429)
                .with_body(r#"{"success":false,"throttle":true}"#)
                .with_header("Retry-After", seconds.to_string()),
            Some(Trouble::LostPage) => {
                self.journal.entries().lost_pages.push(requested.cloud_ms);
                Fault::status(404)
            }
            Some(Trouble::Slow(delay_ms)) => {
                Fault { delay_ms, ..self.body(&source, trouble, &mut rng, requested) }
            }
            _ => self.body(&source, trouble, &mut rng, requested),
        }
    }

    /// The response with the source's body, changed by the trouble. A complete body is added to the journal.
    fn body(&self, source: &Source, trouble: Option<Trouble>, rng: &mut Rng, requested: Moment) -> Fault {
        if let Some(name) = source.path.strip_prefix(NAME_SERVICE) {
            return part(&names::lookup(self.game.seed, name).body, trouble).unwrap_or_default();
        }
        let snapshot = match (trouble, source.page()) {
            (Some(Trouble::RepeatedPage), Some(page)) => {
                let before = Source::with(&source.path, (page - 1).to_string());
                self.game.snapshot(&before, requested.cloud_ms).map(|before| before.repeated())
            }
            _ => self.game.snapshot(source, requested.cloud_ms),
        };
        let Some(snapshot) = snapshot else { return Fault::status(404) };
        if let Some(fault) = part(&snapshot.text, trouble) {
            return fault;
        }
        let most = matches!(trouble, Some(Trouble::MostRows));
        let is_spoiled = most || matches!(trouble, Some(Trouble::SomeRows));
        let spoiled = if is_spoiled { snapshot.spoiled(rng, most) } else { None };
        let served = spoiled.unwrap_or(snapshot);
        if is_spoiled && !served.facts().is_usable() {
            self.journal.count("too many unusable rows");
        }
        self.journal.serve(&served, requested);
        if !is_spoiled && rng.bool() {
            return Fault::default().with_body(served.gzipped()).with_header("Content-Encoding", "gzip");
        }
        Fault::default().with_body(served.text.as_str())
    }
}

/// The response with a part of the body, if that is the trouble.
fn part(text: &str, trouble: Option<Trouble>) -> Option<Fault> {
    let half = text.len() / 2;
    match trouble {
        Some(Trouble::Cut) => Some(Fault::truncate(half).with_body(text)),
        Some(Trouble::HalfJson) => Some(Fault::default().with_body(&text[..text.floor_char_boundary(half)])),
        _ => None,
    }
}
