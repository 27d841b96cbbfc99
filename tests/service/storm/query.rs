//! The requests of the storm.

use common::routes::VERSION_1;
use fastrand::Rng;

use super::snapshot::PAGES;
use crate::oracle::Source;
use crate::support::passing_examples;

/// The players whose profiles are requested.
const PLAYERS: [&str; 5] = ["storm_rider", "Weather_Cock", "x", "neverplayed", "Umbrella"];

/// What is requested.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A route without parameters, whose response follows from one snapshot.
    Whole(Source),
    Full,
    List,
    Item(String),
    Flips(usize),
    Page(u32),
    /// A page beyond the last.
    NoPage,
    Player(String),
    /// A name without a player.
    NoPlayer,
    MayorHistory(usize),
    FireSalesHistory(usize),
    Chart {
        id: &'static str,
        range: &'static str,
    },
    Candles {
        id: &'static str,
        interval: &'static str,
        limit: usize,
    },
    /// The products with these ids, which are 1 to 100 different ones.
    Items(Vec<String>),
    Book(String),
    /// All products with the prices of their best orders.
    BestPrices,
    /// The prices of all items in auctions, or of these, which are different ones.
    Prices(Option<Vec<&'static str>>),
    /// The averages of these items in auctions over a day.
    Averages(Vec<&'static str>),
    /// The candles of an item in auctions.
    AuctionCandles {
        id: &'static str,
        interval: &'static str,
    },
    /// All candles of a day in which nothing was recorded.
    NoCandles,
    /// It requires no key.
    Status,
    /// A parameter is not allowed.
    Invalid,
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) path: String,
    pub(super) kind: Kind,
    /// The function that handles it.
    pub(super) function: &'static str,
}

/// The products whose history is checked.
pub(super) const OBSERVED: [&str; 12] = [
    "INK_SACK:3",
    "ENCHANTED_DIAMOND",
    "ENCHANTED_COAL",
    "ENCHANTED_IRON",
    "ENCHANTED_GOLD",
    "ENCHANTED_LAPIS_LAZULI",
    "ENCHANTED_REDSTONE",
    "COAL",
    "WHEAT",
    "CARROT_ITEM",
    "SUGAR_CANE",
    "DIAMOND",
];

/// Items of which auctions have some, and one of which there is none.
const PRICED: [&str; 6] =
    ["GOLDEN_DRAGON;4", "GOLDEN_DRAGON;4+100", "HYPERION", "SHARPNESS;5", "NEW_YEAR_CAKE", "NOTHING"];

/// The ranges of charts: the interval of their points and their length, in seconds.
pub(super) const RANGES: [(&str, i64, i64); 5] = [
    ("1h", 60, 60 * 60),
    ("24h", 5 * 60, 24 * 60 * 60),
    ("7d", 30 * 60, 7 * 24 * 60 * 60),
    ("30d", 60 * 60, 30 * 24 * 60 * 60),
    ("90d", 3 * 60 * 60, 90 * 24 * 60 * 60),
];

/// The intervals of candles and their length, in seconds.
pub(super) const INTERVALS: [(&str, i64); 5] =
    [("5m", 5 * 60), ("30m", 30 * 60), ("1h", 60 * 60), ("3h", 3 * 60 * 60), ("1d", 24 * 60 * 60)];

impl Query {
    fn new(path: impl Into<String>, kind: Kind, function: &'static str) -> Self {
        Self { path: path.into(), kind, function }
    }

    /// Any of the requests; `products` have a history.
    pub(super) fn any(rng: &mut Rng, products: &[&'static str]) -> Self {
        let product = *rng.choice(products).unwrap();
        match rng.u32(..100) {
            0..10 => Self::new("/v1/mayor", Kind::Whole(Source::Election), "mayor"),
            10..20 => Self::new("/v1/fire-sales", Kind::Whole(Source::FireSales), "fire-sales"),
            20..28 => rng.choice(Self::passing()).unwrap(),
            28..34 => Self::new("/v1/items", Kind::Whole(Source::Items), "items"),
            34 => Self::new("/v1/bazaar", Kind::Full, "bazaar"),
            35 => Self::no_candles(),
            36..38 => Self::items(rng, products),
            38..40 => Self::new("/v1/bazaar?mode=list", Kind::List, "bazaar"),
            40 => Self::book(product),
            41 if rng.bool() => Self::book("NOTHING"),
            41 => Self::new("/v1/bazaar?mode=prices", Kind::BestPrices, "bazaar"),
            42..47 => Self::new(
                format!("/v1/bazaar?mode=item&id={product}"),
                Kind::Item(product.to_owned()),
                "bazaar",
            ),
            47 => Self::new("/v1/bazaar?mode=item&id=NOTHING", Kind::Item("NOTHING".to_owned()), "bazaar"),
            48..52 => {
                let limit = rng.usize(1..=100);
                Self::new(format!("/v1/bazaar?mode=flips&limit={limit}"), Kind::Flips(limit), "bazaar")
            }
            52..60 => {
                let page = rng.u32(..PAGES);
                Self::new(format!("/v1/auctions?page={page}"), Kind::Page(page), "auctions")
            }
            60 => Self::new("/v1/auctions?page=9999", Kind::NoPage, "auctions"),
            61..69 => Self::player(rng.choice(PLAYERS).unwrap()),
            69 => Self::new("/v1/profile/nobody_here", Kind::NoPlayer, "profile"),
            70 if rng.u32(..4) == 0 => Self::player("leviathan"),
            70 => Self::player("whale"),
            71..77 => {
                let limit = rng.usize(1..=100);
                let path = format!("/v1/mayor/history?limit={limit}");
                Self::new(path, Kind::MayorHistory(limit), "mayor-history")
            }
            77..83 => {
                let limit = rng.usize(1..=200);
                let path = format!("/v1/fire-sales/history?limit={limit}");
                Self::new(path, Kind::FireSalesHistory(limit), "fire-sales-history")
            }
            83..90 => Self::chart(product, rng.choice(RANGES).unwrap().0),
            90..95 => Self::candles(product, rng.choice(INTERVALS).unwrap().0, rng.usize(1..=400)),
            95 => Self::status(),
            96 => Self::prices(rng),
            97 if rng.bool() => Self::new("/v1/auctions/prices", Kind::Prices(None), "auctions-prices"),
            97 if rng.bool() => Self::averages(),
            97 => Self::auction_candles(rng.choice(PRICED).unwrap(), rng.choice(["1h", "1d"]).unwrap()),
            _ => Self::invalid(rng),
        }
    }

    /// One request to every route that passes on the content of a resource.
    fn passing() -> Vec<Self> {
        let requests = passing_examples().map(|(example, resource)| {
            Self::new(example.path, Kind::Whole(Source::Passed(resource)), example.route.function)
        });
        requests.collect()
    }

    fn player(name: &str) -> Self {
        Self::new(format!("/v1/profile/{name}"), Kind::Player(name.to_owned()), "profile")
    }

    pub(super) fn chart(id: &'static str, range: &'static str) -> Self {
        let path = format!("/v1/bazaar/history?item_id={id}&range={range}");
        Self::new(path, Kind::Chart { id, range }, "bazaar-history")
    }

    pub(super) fn candles(id: &'static str, interval: &'static str, limit: usize) -> Self {
        let path = format!("/v1/bazaar/candles?item_id={id}&interval={interval}&limit={limit}");
        Self::new(path, Kind::Candles { id, interval, limit }, "bazaar-candles")
    }

    fn no_candles() -> Self {
        let path = "/v1/bazaar/candles/all?interval=1d&opened_at=2020-01-01T00:00:00Z";
        Self::new(path, Kind::NoCandles, "bazaar-candles-all")
    }

    fn items(rng: &mut Rng, products: &[&'static str]) -> Self {
        let mut ids: Vec<String> = products.iter().map(|id| (*id).to_owned()).collect();
        ids.push("NOTHING".to_owned());
        rng.shuffle(&mut ids);
        ids.truncate(rng.usize(1..=ids.len()));
        Self::new(format!("/v1/bazaar?mode=items&ids={}", ids.join(",")), Kind::Items(ids), "bazaar")
    }

    fn book(id: &str) -> Self {
        Self::new(format!("/v1/bazaar?mode=book&id={id}"), Kind::Book(id.to_owned()), "bazaar")
    }

    fn prices(rng: &mut Rng) -> Self {
        let mut ids = PRICED.to_vec();
        rng.shuffle(&mut ids);
        ids.truncate(rng.usize(1..=ids.len()));
        let path = format!("/v1/auctions/prices?ids={}", encoded(&ids.join(",")));
        Self::new(path, Kind::Prices(Some(ids)), "auctions-prices")
    }

    fn averages() -> Self {
        let path = format!("/v1/auctions/averages?ids={}", encoded(&PRICED.join(",")));
        Self::new(path, Kind::Averages(PRICED.to_vec()), "auctions-averages")
    }

    fn auction_candles(id: &'static str, interval: &'static str) -> Self {
        let path = format!("/v1/auctions/candles?id={}&interval={interval}", encoded(id));
        Self::new(path, Kind::AuctionCandles { id, interval }, "auctions-candles")
    }

    fn status() -> Self {
        Self::new("/v1/status", Kind::Status, "status")
    }

    fn invalid(rng: &mut Rng) -> Self {
        let (path, function) = *rng
            .choice(&[
                ("/v1/bazaar?mode=item", "bazaar"),
                ("/v1/bazaar?mode=flips&limit=101", "bazaar"),
                ("/v1/bazaar?mode=items&ids=", "bazaar"),
                ("/v1/bazaar/history?item_id=ink_sack", "bazaar-history"),
                ("/v1/bazaar/candles?item_id=COAL&interval=2h", "bazaar-candles"),
                ("/v1/bazaar/candles?item_id=COAL&before=now", "bazaar-candles"),
                ("/v1/auctions?page=-1", "auctions"),
                ("/v1/auctions/prices?ids=HYPERION,", "auctions-prices"),
                ("/v1/auctions/averages?window=2d", "auctions-averages"),
                ("/v1/auctions/candles?id=hyperion", "auctions-candles"),
                ("/v1/mayor/history?limit=0", "mayor-history"),
                ("/v1/profile/far_too_long_for_a_name", "profile"),
            ])
            .unwrap();
        Self::new(path, Kind::Invalid, function)
    }

    /// One request to every route.
    pub(super) fn every_route(product: &'static str) -> Vec<Self> {
        let mut requests = vec![
            Self::new("/v1/mayor", Kind::Whole(Source::Election), "mayor"),
            Self::new("/v1/mayor/history?limit=100", Kind::MayorHistory(100), "mayor-history"),
            Self::new("/v1/fire-sales", Kind::Whole(Source::FireSales), "fire-sales"),
            Self::new("/v1/fire-sales/history?limit=200", Kind::FireSalesHistory(200), "fire-sales-history"),
            Self::new("/v1/bazaar", Kind::Full, "bazaar"),
            Self::book(product),
            Self::chart(product, "1h"),
            Self::candles(product, "1h", 288),
            Self::no_candles(),
            Self::status(),
            Self::new("/v1/auctions?page=1", Kind::Page(1), "auctions"),
            Self::new("/v1/auctions/prices", Kind::Prices(None), "auctions-prices"),
            Self::averages(),
            Self::auction_candles("GOLDEN_DRAGON;4", "1h"),
            Self::auction_candles("GOLDEN_DRAGON;4", "1d"),
            Self::new("/v1/items", Kind::Whole(Source::Items), "items"),
            Self::player("storm_rider"),
        ];
        requests.extend(Self::passing());
        requests
    }

    /// The age of data in seconds that `functions/README.md`, Caching, allows: usually, while the provider fails, and both with
    /// the stage cache.
    pub(super) fn ages(&self) -> [i64; 4] {
        let route = VERSION_1.into_iter().find(|route| route.function == self.function).unwrap();
        let ttl = i64::try_from(route.cache.as_secs()).unwrap();
        let stale = (10 * ttl).min(60 * 60);
        [ttl, ttl + stale, 2 * ttl, 2 * ttl + stale]
    }
}

/// The ids as a query has them.
fn encoded(ids: &str) -> String {
    ids.replace(';', "%3B").replace('+', "%2B")
}
