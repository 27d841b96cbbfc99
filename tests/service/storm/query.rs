//! The requests of the storm.

use common::error::Code;
use common::routes::{Route, VERSION_1};
use fastrand::Rng;
use openapi::failing_requests;

use super::journal::{INVOCATION_MS, OBSERVED};
use super::snapshot::PAGES;
use super::source::Source;
use crate::provider::{AUCTIONS, WHOLE};
use crate::support::{passing_examples, recorded_requests};

/// The players whose profiles are requested.
const PLAYERS: [&str; 6] = ["storm_rider", "Weather_Cock", "x", "neverplayed", "Umbrella", "whale"];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A route, or a page of auctions, for which only one response follows from a snapshot.
    Whole(Source),
    Bazaar(Mode),
    Player(String),
    Chart(&'static str),
    /// Past mayors or fire sales.
    History,
    /// Other recorded data.
    Recorded,
    /// The status, which requires no key.
    Status,
    /// A page, player or interval that does not exist.
    Unknown,
    Invalid,
}

/// A mode of the bazaar, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mode {
    Full,
    List,
    Prices,
    Flips(usize, [u32; 2]),
    Item(String),
    Book(String),
    Items(Vec<String>),
}

#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) route: &'static Route,
}

impl Query {
    fn new(path: impl Into<String>, kind: Kind) -> Self {
        let path = path.into();
        let name = path.split('?').next().unwrap();
        let matches = |route: &&&Route| match route.path.split_once("{username}") {
            Some((front, _)) => name.starts_with(front),
            None => name == route.path,
        };
        let route = VERSION_1.iter().find(matches).unwrap();
        Self { path, kind, route }
    }

    pub(super) fn any(rng: &mut Rng) -> Self {
        let queries = Self::of_every_route(rng);
        rng.choice(queries).unwrap()
    }

    /// Requests to every route, with random parameters, except `/v1/usage`, whose limit allows an account few
    /// requests.
    pub(super) fn of_every_route(rng: &mut Rng) -> Vec<Self> {
        let product = *rng.choice(&OBSERVED).unwrap();
        let some = (*rng.choice(&[product, product, product, "NOTHING"]).unwrap()).to_owned();
        let mut ids = [&OBSERVED[..], &["NOTHING"]].concat();
        rng.shuffle(&mut ids);
        ids.truncate(rng.usize(1..=ids.len()));
        let limit = rng.usize(1..=100);
        let page = rng.u32(..PAGES);
        let player = *rng.choice(&PLAYERS).unwrap();
        let rules = [rng.u32(..200_000), rng.u32(..40_000)];
        let flips =
            format!("/v1/bazaar?mode=flips&limit={limit}&min_price={}&min_volume={}", rules[0], rules[1]);
        let mut queries = vec![
            Self::new(
                format!("/v1/auctions?page={page}"),
                Kind::Whole(Source::with(AUCTIONS.path, page.to_string())),
            ),
            Self::new(format!("/v1/profile/{player}"), Kind::Player(player.to_owned())),
            Self::new("/v1/bazaar", Kind::Bazaar(Mode::Full)),
            Self::new("/v1/bazaar?mode=list", Kind::Bazaar(Mode::List)),
            Self::new("/v1/bazaar?mode=prices", Kind::Bazaar(Mode::Prices)),
            Self::new(flips, Kind::Bazaar(Mode::Flips(limit, rules))),
            Self::new(format!("/v1/bazaar?mode=item&id={some}"), Kind::Bazaar(Mode::Item(some.clone()))),
            Self::new(format!("/v1/bazaar?mode=book&id={some}"), Kind::Bazaar(Mode::Book(some))),
            Self::new(
                format!("/v1/bazaar?mode=items&ids={}", ids.join(",")),
                Kind::Bazaar(Mode::Items(ids.into_iter().map(str::to_owned).collect())),
            ),
            Self::new(format!("/v1/mayor/history?limit={limit}"), Kind::History),
            Self::new(format!("/v1/fire-sales/history?limit={limit}"), Kind::History),
            Self::new(format!("/v1/bazaar/candles?item_id={product}&limit={limit}"), Kind::Recorded),
            Self::new("/v1/auctions/prices", Kind::Recorded),
            Self::new(format!("/v1/auctions/listings?id=HYPERION&limit={limit}"), Kind::Recorded),
            Self::new("/v1/auctions/listings?id=GOLDEN_DRAGON%3B4&min_level=100", Kind::Recorded),
            Self::new("/v1/status", Kind::Status),
        ];
        queries.extend(recorded_requests().map(|path| Self::new(path, Kind::Recorded)));
        let (unknown, others): (Vec<_>, Vec<_>) =
            failing_requests().unwrap().into_iter().partition(|(_, code)| *code == Code::NotFound);
        let invalid = others.into_iter().filter(|(_, code)| *code == Code::BadRequest).collect::<Vec<_>>();
        queries.extend(rng.choice(invalid).map(|(path, _)| Self::new(path, Kind::Invalid)));
        // All of them: the only right responses of some routes are among them.
        queries.extend(unknown.into_iter().map(|(path, _)| Self::new(path, Kind::Unknown)));
        for range in ["1h", "24h", "7d", "30d", "90d"] {
            let path = format!("/v1/bazaar/history?item_id={product}&range={range}");
            queries.push(Self::new(path, Kind::Chart(product)));
        }
        let whole = WHOLE.iter().map(|resource| (resource.route.unwrap(), resource.path));
        let passing = passing_examples().map(|(example, resource)| (example.path, resource.path));
        queries.extend(
            whole.chain(passing).map(|(route, path)| Self::new(route, Kind::Whole(Source::of(path)))),
        );
        queries
    }

    /// The TTL, the highest usual age of data, and the highest age while the provider fails, in milliseconds
    /// (`functions/README.md`, Caching).
    pub(super) fn ages_ms(&self, has_stage_cache: bool) -> [i64; 3] {
        let ttl_ms = i64::try_from(self.route.cache.as_millis()).unwrap();
        let stored_ms = if has_stage_cache { ttl_ms + INVOCATION_MS } else { 0 };
        // Headers have whole seconds.
        let usual_ms = ttl_ms + stored_ms + 1_000;
        [ttl_ms, usual_ms, usual_ms + (10 * ttl_ms).min(60 * 60_000)]
    }
}
