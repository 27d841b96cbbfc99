//! Compares the recorder with a computation that knows the whole history of a random auction house. Runs and
//! refreshes happen at any second, each page is refreshed at a different second, and the provider fails at
//! random.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::request::auction_item_id::AuctionItemId;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::{StatusCode, UpstreamError, UpstreamResponse, auctions, ended_auctions};
use fastnbt::{Value, nbt};
use fastrand::Rng;
use files::listings::Listing;
use record_auctions::reading::{Failure, Found, Reading, Request, Times};
use serde_json::{Value as Json, json};
use tables::auctions::{Coins, List, known, sold_between};

const START: i64 = 1_777_388_460_000;
const MINUTE: i64 = 60_000;
const SECOND: i64 = 1_000;

/// The milliseconds from a full minute to the refresh of the list of ended auctions.
const LIST_PHASE: i64 = 43_162;
/// The age of the oldest sales in the list, in milliseconds.
const LISTED: i64 = 62_000;

const PAGE: usize = 20;

/// How long a run may fetch.
const FETCHING: i64 = 40 * SECOND;

/// The items: the ids under which each item counts, its count, and its `item_bytes`. The last item is
/// invalid.
static ITEMS: LazyLock<[(Vec<&str>, i64, String); 4]> = LazyLock::new(|| {
    let bytes = |attributes: Value, count: i8| {
        let item = nbt!({"i": [{"Count": count, "tag": {"ExtraAttributes": attributes}}]});
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&fastnbt::to_bytes(&item).unwrap()).unwrap();
        STANDARD.encode(encoder.finish().unwrap())
    };
    let cake = bytes(nbt!({"id": "NEW_YEAR_CAKE", "new_years_cake": 40}), 1);
    [
        (vec!["HYPERION"], 1, bytes(nbt!({"id": "HYPERION"}), 1)),
        (vec!["LOG-2"], 51, bytes(nbt!({"id": "LOG:2"}), 51)),
        (vec!["NEW_YEAR_CAKE", "NEW_YEAR_CAKE+40"], 1, cake),
        (vec![], 1, "AAAA".to_owned()),
    ]
});

/// An auction, with the times of its bid, its sale and its cancellation.
#[derive(Debug, Clone)]
struct Auction {
    item: usize,
    price: i64,
    is_bin: bool,
    start: i64,
    end: i64,
    bid: Option<i64>,
    /// More fields of the row after the bid.
    fields: Json,
    sold: Option<i64>,
    cancelled: Option<i64>,
}

impl Auction {
    fn gone(&self) -> i64 {
        [self.sold, self.cancelled].into_iter().flatten().fold(self.end, i64::min)
    }

    fn is_listed(&self, now: i64) -> bool {
        (self.start..self.gone()).contains(&now)
    }

    fn updated(&self, now: i64) -> i64 {
        self.bid.filter(|bid| *bid <= now).unwrap_or(self.start)
    }
}

/// The auction house, and how long after the first page each page is refreshed.
#[derive(Debug, Default)]
struct World {
    auctions: Vec<Auction>,
    delays: Vec<i64>,
}

/// The provider's behaviour at a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weather {
    Fine,
    Failure,
    NotFound,
    /// The page has the rows of the previous page.
    Repeated,
    /// The page has no rows.
    Empty,
    /// The response has a refresh of tomorrow.
    Future,
}

/// The latest time up to `now` that is `phase` after a full minute.
fn before(now: i64, phase: i64) -> i64 {
    now - (now - START - phase).rem_euclid(MINUTE)
}

impl World {
    /// A house with auctions that never end, each with a different price.
    fn of(staying: i64) -> Self {
        let mut world = Self::default();
        (0..staying).for_each(|number| world.begin(0, 100 + number, START - 30 * MINUTE - number, 9_000));
        world
    }

    fn begin(&mut self, item: usize, price: i64, start: i64, minutes: i64) {
        let end = start + MINUTE * minutes;
        self.auctions.push(Auction {
            item,
            price,
            is_bin: true,
            start,
            end,
            bid: None,
            fields: json!({}),
            sold: None,
            cancelled: None,
        });
    }

    /// A house in which auctions begin, receive bids, are sold and are cancelled at random, for this many
    /// minutes.
    fn by_chance(chance: &mut Rng, minutes: i64) -> Self {
        let mut world = Self::of(2 * 20 + 1);
        world.delays = (0..9).map(|page| if page == 0 { 0 } else { chance.i64(0..MINUTE) }).collect();
        for _ in 0..minutes * 5 {
            let start = START + chance.i64(-10 * MINUTE..minutes * MINUTE);
            world.begin(chance.usize(..4), chance.i64(1..300), start, chance.i64(1..40));
            let auction = world.auctions.last_mut().unwrap();
            let at = chance.i64(start..auction.end);
            auction.is_bin = chance.u8(..5) > 0;
            match (chance.u8(..4), auction.is_bin) {
                (0, _) => auction.cancelled = Some(at),
                (1 | 2, true) => auction.sold = Some(at),
                (1 | 2, false) => (auction.bid, auction.sold) = (Some(at), Some(auction.end)),
                _ => {}
            }
        }
        world
    }

    /// The auctions at a refresh, the last updated one first.
    fn listed(&self, refresh: i64) -> Vec<(usize, &Auction)> {
        let mut listed: Vec<_> = self.auctions.iter().enumerate().collect();
        listed.retain(|(_, auction)| auction.is_listed(refresh));
        listed.sort_by_key(|(id, auction)| (-auction.updated(refresh), *id));
        listed
    }

    /// The refresh of the list of ended auctions that the provider shows at this time, and its auctions.
    fn ended(&self, now: i64) -> (i64, impl Iterator<Item = (usize, &Auction)>) {
        let refresh = before(now, LIST_PHASE);
        let is_in = move |sold: i64| refresh - LISTED < sold && sold <= refresh;
        let ended = self.auctions.iter().enumerate();
        (refresh, ended.filter(move |(_, auction)| auction.sold.is_some_and(is_in)))
    }

    fn list(&self, now: i64) -> UpstreamResponse {
        let (refresh, ended) = self.ended(now);
        let row = |(id, auction): (usize, &Auction)| {
            json!({
                "auction_id": format!("{id:032x}"), "timestamp": auction.sold, "price": auction.price,
                "bin": auction.is_bin, "item_bytes": ITEMS[auction.item].2,
            })
        };
        let rows: Vec<_> = ended.map(row).collect();
        let body = json!({"success": true, "lastUpdated": refresh, "auctions": rows});
        UpstreamResponse::new(ended_auctions::PATH, body.to_string())
    }

    /// The page that the provider shows at this time, if it exists, with the rows of the page `rows_of`.
    fn page(&self, page: usize, rows_of: usize, now: i64) -> Option<UpstreamResponse> {
        let refresh = before(now - self.delays.get(page).unwrap_or(&0), 0);
        let listed = self.listed(refresh);
        let row = |(id, auction): &(usize, &Auction)| {
            let Auction { item, price, is_bin, start, end, .. } = auction;
            let mut row = json!({
                "uuid": format!("{id:032x}"), "start": start, "end": end, "last_updated": auction.updated(refresh),
                "bin": is_bin, "starting_bid": price, "item_bytes": ITEMS[*item].2,
            });
            if auction.bid.is_some_and(|bid| bid <= refresh) {
                row.as_object_mut().unwrap().extend(auction.fields.as_object().unwrap().clone());
            }
            row
        };
        let rows: Vec<_> = listed.chunks(PAGE).nth(rows_of).into_iter().flatten().map(row).collect();
        let body = json!({
            "success": true, "page": page, "totalPages": listed.len().div_ceil(PAGE), "totalAuctions": listed.len(),
            "lastUpdated": refresh, "auctions": rows,
        });
        (page < listed.len().div_ceil(PAGE).max(1))
            .then(|| UpstreamResponse::new(auctions::PATH, body.to_string()))
    }

    fn respond(
        &self,
        request: Request,
        now: i64,
        weather: Weather,
    ) -> Result<UpstreamResponse, UpstreamError> {
        let not_found = || UpstreamError::Status {
            path: String::new(),
            status: StatusCode::NOT_FOUND,
            body: String::new(),
        };
        let now = if weather == Weather::Future { now + 24 * 60 * MINUTE } else { now };
        match (request, weather) {
            (_, Weather::Failure) => Err(UpstreamError::Timeout { path: String::new() }),
            (_, Weather::NotFound) => Err(not_found()),
            (Request::EndedAuctions { .. }, _) => Ok(self.list(now)),
            (Request::Page(page), _) => {
                let page = page as usize;
                let rows_of = match weather {
                    Weather::Repeated => page.saturating_sub(1),
                    Weather::Empty => usize::MAX,
                    _ => page,
                };
                self.page(page, rows_of, now).ok_or_else(not_found)
            }
        }
    }

    /// The prices for each id at this time in hundredths of a coin, lowest first, each with its auction.
    fn prices(&self, now: i64) -> BTreeMap<&'static str, BTreeSet<(u64, u128)>> {
        let mut prices = BTreeMap::<_, BTreeSet<_>>::new();
        for (id, auction) in (0..).zip(&self.auctions) {
            if auction.is_bin && auction.is_listed(now) {
                let (ids, count, _) = &ITEMS[auction.item];
                let price = (auction.price * 200 + count) / (count * 2);
                for item in ids {
                    prices.entry(*item).or_default().insert((price.unsigned_abs(), id));
                }
            }
        }
        prices
    }
}

/// The result of a run.
struct Ran {
    found: Result<Found, Failure>,
    ended: i64,
    /// The new lists of ended auctions that the run has read, in this order.
    lists: Vec<List>,
    requests: usize,
}

/// Runs the recorder once at this time, with this many attempts. A request takes 0.3 s.
fn run(
    reading: &mut Reading,
    world: &World,
    began: i64,
    attempts: usize,
    mut weather: impl FnMut(Request) -> Weather,
) -> Ran {
    let time = UnixMilliseconds::new;
    let mut now = began;
    let mut lists = Vec::new();
    let mut requests = 0;
    reading.begin(Times {
        began: time(began),
        end: time(began + FETCHING),
        latest: time(began + 2 * MINUTE),
    });
    for _ in 0..attempts {
        reading.begin_attempt();
        while now < began + FETCHING
            && let Some(request) = reading.next_request()
        {
            if let Request::EndedAuctions { due: Some(due) } = request {
                now = now.max(due.get());
            }
            now += 300;
            requests += 1;
            let response = world.respond(request, now, weather(request));
            let read = reading.respond(request, response, time(now), Tick::of(time(now)).into());
            lists.extend(read.ok().flatten());
        }
        now += SECOND;
    }
    Ran { found: reading.finish(), ended: now, lists, requests }
}

/// Expects that the blocks have exactly the auctions that the prices of the same run count, as the world has
/// them.
fn expect_blocks(world: &World, found: &Found) {
    let blocks = found.blocks.as_ref().unwrap();
    assert_eq!(blocks.len(), found.minute.prices.len());
    let lowest = found.minute.prices.iter().zip(&found.minute.lowest_auctions);
    for ((id, block), ((priced, price), lowest)) in blocks.iter().zip(lowest) {
        let mut json = Vec::new();
        flate2::read::GzDecoder::new(&block[..]).read_to_end(&mut json).unwrap();
        let listings: Vec<Listing> = serde_json::from_slice(&json).unwrap();
        assert_eq!((id, listings.len()), (priced, price.listings as usize));
        assert_eq!((listings[0].price, listings[0].auction), (price.lowest, *lowest), "{id:?}");
        assert_eq!(listings.get(1).map(|second| second.price), price.second, "{id:?}");
        assert!(listings.is_sorted_by_key(|listing| (listing.price, listing.auction)), "{id:?}");
        for Listing { auction, price, amount, end, .. } in listings {
            let auction = &world.auctions[usize::try_from(u128::from_be_bytes(auction.bytes())).unwrap()];
            let (ids, count, _) = &ITEMS[auction.item];
            assert!(ids.contains(&id.as_str()), "{id:?}: {auction:?}");
            assert_eq!((i64::from(amount.get()), end), (*count, auction.end), "{auction:?}");
            assert_eq!(price, Coins::of_one(auction.price.unsigned_abs(), amount), "{auction:?}");
        }
    }
}

fn fine(_: Request) -> Weather {
    Weather::Fine
}

const fn is_list(request: Request) -> bool {
    matches!(request, Request::EndedAuctions { .. })
}

/// Counts the errors of a recorded minute: items whose lowest auction was sold more than two minutes ago, and
/// items whose price is missing or higher than the price of an auction that has run for more than two
/// minutes.
fn errors(world: &World, minute: &tables::auctions::Minute, now: i64) -> [usize; 2] {
    let position =
        |auction: &auctions::AuctionId| usize::try_from(u128::from_be_bytes(auction.bytes())).unwrap();
    let known: BTreeMap<_, _> = minute.prices.iter().map(|(id, price)| (id.as_str(), price.lowest)).collect();
    for ((id, price), auction) in minute.prices.iter().zip(&minute.lowest_auctions) {
        let auction = &world.auctions[position(auction)];
        let (ids, count, _) = &ITEMS[auction.item];
        assert!(ids.contains(&id.as_str()) && auction.is_bin, "{id:?}: {auction:?}");
        assert!(minute.last_updated.get() < auction.end, "{id:?}: {auction:?}");
        let rounded = price.lowest.hundredths().cast_signed() * count - auction.price * 100;
        assert!(rounded.abs() * 2 <= *count, "{id:?}: {price:?} of {auction:?}");
    }
    let sold = |auction: &&auctions::AuctionId| {
        world.auctions[position(auction)].sold.is_some_and(|sold| sold < now - 2 * MINUTE)
    };
    let is_missing = |(id, prices): &(&&str, &BTreeSet<(u64, u128)>)| {
        let mut old = prices.iter().filter(|(_, auction)| {
            world.auctions[usize::try_from(*auction).unwrap()].start < now - 2 * MINUTE
        });
        let lowest = old.next().map(|(price, _)| Coins::of_hundredths(*price));
        lowest.is_some_and(|lowest| known.get(**id).is_none_or(|known| *known > lowest))
    };
    [minute.lowest_auctions.iter().filter(sold).count(), world.prices(now).iter().filter(is_missing).count()]
}

/// The faults of a history, each in thousandths of the runs or requests.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    missed_runs: u32,
    missed_lists: u32,
    failures: u32,
    not_found: u32,
    repeated: u32,
    restarts: u32,
}

/// The sums over many histories.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    minutes: usize,
    /// The number of failed runs.
    failed: usize,
    /// The two kinds of errors that `errors` counts.
    errors: [usize; 2],
}

/// Runs the recorder through an hour with faults and an hour without faults. At the end, the recorder must
/// know every auction, and the lists must have every sale.
fn history(seed: u64, faults: Faults, totals: &mut Totals) {
    const MINUTES: i64 = 60;
    let mut chance = Rng::with_seed(seed);
    let world = World::by_chance(&mut chance, MINUTES);
    let phase = chance.i64(0..MINUTE);
    let mut reading = Reading::default();
    let mut last = None;
    let mut lists = BTreeMap::new();
    for minute in 0..2 * MINUTES {
        let faults = if minute < MINUTES { faults } else { Faults::default() };
        let is = |chance: &mut Rng, often: u32| chance.u32(..1_000) < often;
        if is(&mut chance, faults.restarts) {
            reading = Reading::default();
        }
        if is(&mut chance, faults.missed_runs) {
            continue;
        }
        let began = START + MINUTE * minute + phase + chance.i64(-2 * SECOND..=2 * SECOND);
        let is_list_missed = is(&mut chance, faults.missed_lists);
        let ran = run(&mut reading, &world, began, 4, |request| {
            let failures = [
                (Weather::Failure, faults.failures),
                (Weather::NotFound, faults.not_found),
                (Weather::Repeated, faults.repeated),
            ];
            let weather = failures.into_iter().find(|(_, often)| is(&mut chance, *often));
            match request {
                Request::EndedAuctions { .. } if is_list_missed => Weather::NotFound,
                _ => weather.map_or(Weather::Fine, |(weather, _)| weather),
            }
        });
        // A list is written even if the run fails, and a second list of the same refresh changes nothing.
        for list in ran.lists {
            lists.entry(list.until).or_insert(list);
        }
        totals.minutes += usize::from(minute < MINUTES);
        let Ok(found) = ran.found else {
            totals.failed += 1;
            continue;
        };
        if minute % 10 == 0 {
            expect_blocks(&world, &found);
        }
        let errors = errors(&world, &found.minute, ran.ended);
        if minute < MINUTES {
            totals.errors = [0, 1].map(|kind| totals.errors[kind] + errors[kind]);
        } else {
            assert!(minute < MINUTES + 22 || errors == [0, 0], "seed {seed}: minute {minute}: {errors:?}");
        }
        last = Some(found.minute);
    }
    let end = START + MINUTE * 2 * MINUTES;
    let prices = world.prices(end);
    let expected = prices.iter().map(|(id, auctions)| (id.to_string(), auctions.len()));
    let prices = last.unwrap().prices;
    let listed = prices.iter().map(|(id, price)| (id.as_str().to_owned(), price.listings as usize));
    assert_eq!(listed.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "seed {seed}");
    expect_sales(&world, &lists.into_values().collect::<Vec<_>>());
}

/// Expects that readers of the lists find each sale of a valid item in the provider's lists exactly once, and
/// no other sale.
fn expect_sales(world: &World, lists: &[List]) {
    let sale = |(id, auction): (usize, &Auction)| {
        let price = auction.price.unsigned_abs();
        (format!("{id:032x}"), (auction.sold.unwrap(), price, ITEMS[auction.item].0.join(" ")))
    };
    let sold: BTreeMap<_, _> = lists
        .iter()
        .flat_map(|list| world.ended(list.until.get()).1)
        .filter(|(_, auction)| !ITEMS[auction.item].0.is_empty())
        .map(sale)
        .collect();
    let [begin, end] = [0, i64::MAX / SECOND].map(UnixSeconds::new);
    let found: Vec<_> = sold_between(lists, begin, end)
        .map(|sold| {
            let ids: Vec<_> = sold.items.iter().map(AuctionItemId::as_str).collect();
            (sold.auction.to_string(), (sold.sale.sold_at.get(), sold.sale.price, ids.join(" ")))
        })
        .collect();
    assert_eq!(found.len(), sold.len(), "an auction is found twice");
    assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), sold);
    assert_eq!(known(lists, begin, end), Duration::from_mins(lists.len() as u64));
}

#[test]
fn sold_auctions_go_and_running_ones_stay_whatever_fails() {
    let none = Faults::default();
    let all =
        Faults { missed_runs: 50, missed_lists: 50, failures: 50, not_found: 50, repeated: 50, restarts: 20 };
    // For each kind of fault, the maximum numbers of errors and of failed runs in 40 hours. Without faults,
    // only a first run may miss auctions.
    for (faults, most, most_failed) in [
        (none, [0, 4], 0),
        (Faults { missed_runs: 50, ..none }, [10, 4], 0),
        (Faults { missed_lists: 50, ..none }, [5, 4], 0),
        (Faults { failures: 100, ..none }, [0, 4], 0),
        (Faults { not_found: 100, ..none }, [0, 4], 2),
        (Faults { repeated: 100, ..none }, [0, 20], 0),
        (Faults { restarts: 50, ..none }, [0, 20], 0),
        (all, [20, 20], 2),
    ] {
        let mut totals = Totals::default();
        (0..40).for_each(|seed| history(seed, faults, &mut totals));
        let [sold, missing] = totals.errors;
        let is_good = sold <= most[0] && missing <= most[1] && totals.failed <= most_failed;
        assert!(is_good, "{faults:?}: {totals:?}");
    }
}

#[test]
fn requests_stay_within_ten_a_minute_whatever_fails() {
    let minutes = 120;
    let is_lost = |what: usize, request: Request| match what {
        0 => false,
        1 => is_list(request),
        2 => request == Request::Page(8),
        3 => request > Request::Page(0),
        4 => request > Request::Page(30),
        _ => true,
    };
    for (what, least) in [minutes / 10, minutes / 12, 0, 0, 0, 0].into_iter().enumerate() {
        for weather in [Weather::Failure, Weather::NotFound, Weather::Repeated] {
            let world = World::of(60 * 20);
            let mut reading = Reading::default();
            let mut requests = 0;
            let mut complete = 0;
            for minute in 0..minutes {
                let now = START + MINUTE * i64::from(minute) + 5 * SECOND;
                let ran = run(&mut reading, &world, now, 8, |request| {
                    if is_lost(what, request) { weather } else { Weather::Fine }
                });
                requests += u32::try_from(ran.requests).unwrap();
                complete += u32::from(ran.found.is_ok_and(|found| found.read.pages == 60));
            }
            assert!(requests <= 150 + 10 * minutes, "{what}: {requests} requests with {weather:?}");
            assert!(complete >= least, "{what}: {complete} complete readings with {weather:?}");
        }
    }
}

/// A house of 60 auctions on three pages. A run five seconds after a full minute sees the refresh of that
/// minute.
struct Quiet {
    world: World,
    reading: Reading,
}

impl Quiet {
    fn start() -> Self {
        Self { world: World::of(60), reading: Reading::default() }
    }

    fn run(&mut self, at: i64, weather: impl FnMut(Request) -> Weather) -> Ran {
        run(&mut self.reading, &self.world, START + at, 4, weather)
    }

    /// The number of listings after a run at this minute, with a jitter of two seconds.
    fn listings(&mut self, minute: i64, weather: impl FnMut(Request) -> Weather) -> u32 {
        let at = MINUTE * minute + 5 * SECOND + 2 * SECOND * (minute % 3 - 1);
        self.run(at, weather).found.unwrap().minute.prices.first().map_or(0, |(_, price)| price.listings)
    }
}

#[test]
fn a_cancelled_auction_goes_with_the_next_complete_reading_of_one_refresh_despite_jitter() {
    let mut quiet = Quiet::start();
    assert_eq!(quiet.listings(0, fine), 60);
    (0..7).for_each(|number| quiet.world.begin(0, 50, START + MINUTE / 2 + number, 9_000));
    assert_eq!(quiet.listings(1, fine), 67, "a new auction is found at once");
    quiet.world.auctions[30].cancelled = Some(START + MINUTE);
    for minute in 2..10 {
        assert_eq!(quiet.listings(minute, fine), 67, "minute {minute}");
    }
    assert_eq!(quiet.listings(10, fine), 66);
}

#[test]
fn a_last_page_that_does_not_exist_ends_the_second_complete_reading() {
    let mut quiet = Quiet::start();
    quiet.listings(0, fine);
    quiet.world.auctions[30].cancelled = Some(START + MINUTE);
    let never = |request| if request == Request::Page(2) { Weather::NotFound } else { Weather::Fine };
    let listed = (1..=20).map(|minute| quiet.listings(minute, never)).collect::<Vec<_>>();
    assert!(listed[..19].iter().all(|listings| *listings == 60), "{listed:?}");
    // The two existing pages have 40 running auctions.
    assert_eq!(listed[19], 40);
}

#[test]
fn a_repeated_page_is_a_lost_page() {
    let mut quiet = Quiet::start();
    quiet.listings(0, fine);
    let repeated = |request| if request == Request::Page(1) { Weather::Repeated } else { Weather::Fine };
    for minute in 1..40 {
        assert_eq!(quiet.listings(minute, repeated), 60, "minute {minute}");
    }
    // Pages of different refreshes may share rows, because new auctions move rows to the next page.
    (0..20).for_each(|number| quiet.world.begin(0, 50, START + 40 * MINUTE - number - 1, 9_000));
    quiet.world.delays = vec![0, MINUTE / 2];
    assert_eq!(quiet.listings(40, fine), 80);
}

#[test]
fn a_response_without_rows_or_from_the_future_hides_no_auction() {
    let mut quiet = Quiet::start();
    for page in 0..3 {
        let first = 24 * i64::from(page);
        let odd =
            |weather| move |request| if request == Request::Page(page) { weather } else { Weather::Fine };
        assert_eq!(quiet.listings(first, fine), 60);
        for minute in first + 1..first + 12 {
            let found = quiet.run(MINUTE * minute, odd(Weather::Empty)).found;
            assert!(found.is_err() || found.is_ok_and(|found| found.minute.prices[0].1.listings == 60));
        }
        assert_eq!(quiet.listings(first + 12, fine), 60);
        assert_eq!(quiet.run(MINUTE * (first + 13), odd(Weather::Future)).found.is_err(), page == 0);
        assert_eq!(quiet.listings(first + 14, fine), 60, "page {page}");
    }
    let future = |request| if is_list(request) { Weather::Future } else { Weather::Fine };
    assert_eq!(quiet.listings(80, future), 60);
    assert_eq!(quiet.listings(81, fine), 60);
}

#[test]
fn after_a_missed_list_its_sales_go_at_once() {
    for is_run_missed in [false, true] {
        let mut quiet = Quiet::start();
        (0..10).for_each(|minute| assert_eq!(quiet.listings(minute, fine), 60));
        quiet.world.auctions[30].sold = Some(START + 9 * MINUTE + 30 * SECOND);
        let no_list = |request| if is_list(request) { Weather::NotFound } else { Weather::Fine };
        if !is_run_missed {
            quiet.listings(10, no_list);
        }
        assert_eq!(quiet.listings(11, fine), 59, "the run is missed: {is_run_missed}");
    }
}

#[test]
fn a_list_that_is_seen_again_is_requested_once_more_when_the_next_one_is_due() {
    let mut quiet = Quiet::start();
    let list = |at: i64| before(START + at, LIST_PHASE);
    let times = [50 * SECOND, MINUTE + 40 * SECOND, 2 * MINUTE + 41 * SECOND, 3 * MINUTE];
    // At the last of these times, the next list is not due within the run.
    for (at, requests) in times.into_iter().zip([1, 2, 2, 1]) {
        let mut sent = 0;
        let ran = quiet.run(at, |request| {
            sent += u32::from(is_list(request));
            Weather::Fine
        });
        assert_eq!(sent, requests);
        let refreshes: Vec<_> = ran.lists.iter().map(|list| list.until.get()).collect();
        assert_eq!(refreshes, if at == 3 * MINUTE { vec![] } else { vec![list(at + 15 * SECOND)] });
    }
}

#[test]
fn a_run_that_fails_has_read_its_list() {
    let mut quiet = Quiet::start();
    quiet.listings(0, fine);
    quiet.world.auctions[30].sold = Some(START + 30 * SECOND);
    let no_page = |request| if request == Request::Page(0) { Weather::NotFound } else { Weather::Fine };
    let ran = quiet.run(MINUTE, no_page);
    assert!(matches!(ran.found, Err(Failure::Lost { lost: 1, .. })));
    assert_eq!(ran.lists.iter().map(|list| list.auctions.len()).collect::<Vec<_>>(), [1]);
}

#[test]
fn an_auction_that_its_row_says_is_sold_is_neither_running_nor_the_lowest() {
    for (fields, is_sold) in [
        (json!({"claimed": true, "highest_bid_amount": 130}), true),
        (json!({"claimed": true, "highest_bid_amount": 0}), true),
        (json!({"claimed": false, "highest_bid_amount": 1.3e2}), true),
        (json!({"highest_bid_amount": 130}), true),
        (json!({"claimed": false, "highest_bid_amount": 0}), false),
        (json!({"claimed": "true", "highest_bid_amount": "130"}), false),
        (json!({"claimed": null, "highest_bid_amount": -1}), false),
        (json!({"claimed": [true], "highest_bid_amount": {}}), false),
    ] {
        let left = if is_sold { 59 } else { 60 };
        let mut quiet = Quiet::start();
        let lowest = |quiet: &mut Quiet, minute| {
            let minute = quiet.run(MINUTE * minute + 5 * SECOND, fine).found.unwrap().minute;
            let (_, price) = &minute.prices[0];
            (price.lowest.coins(), price.listings)
        };
        assert_eq!(lowest(&mut quiet, 0), (100.0, 60));
        let auction = &mut quiet.world.auctions[0];
        (auction.bid, auction.fields) = (Some(START + 30 * SECOND), fields.clone());
        let expected = (if is_sold { 101.0 } else { 100.0 }, left);
        assert_eq!(lowest(&mut quiet, 1), expected, "a known auction: {fields}");
        let mut other = Quiet { world: std::mem::take(&mut quiet.world), reading: Reading::default() };
        assert_eq!(lowest(&mut other, 2), expected, "an unknown auction: {fields}");
        quiet.world = other.world;
        quiet.world.auctions[0].fields = json!({});
        assert_eq!(lowest(&mut quiet, 3), expected, "it is not added again: {fields}");
    }
}

#[test]
fn the_block_of_an_item_changes_if_and_only_if_its_auctions_or_their_ends_change() {
    let mut quiet = Quiet::start();
    quiet.world.begin(1, 7, START - 20 * MINUTE, 9_000);
    let blocks = |quiet: &mut Quiet, minute: i64| {
        let found = quiet.run(MINUTE * minute + 5 * SECOND, fine).found.unwrap();
        expect_blocks(&quiet.world, &found);
        let blocks = found.blocks.unwrap().into_iter().map(|(id, block)| (id.as_str().to_owned(), block));
        blocks.collect::<BTreeMap<_, _>>()
    };
    let first = blocks(&mut quiet, 0);
    let second = blocks(&mut quiet, 1);
    for (id, block) in &first {
        // An unchanged block is not even copied.
        assert_eq!(block.as_ptr(), second[id].as_ptr(), "{id}");
    }
    quiet.world.auctions[0].end += MINUTE;
    let third = blocks(&mut quiet, 2);
    assert_ne!(first["HYPERION"], third["HYPERION"], "the end is later");
    assert_eq!(first["LOG-2"].as_ptr(), third["LOG-2"].as_ptr());
    quiet.world.auctions.last_mut().unwrap().sold = Some(START + 3 * MINUTE - SECOND);
    assert_eq!(blocks(&mut quiet, 4).into_keys().collect::<Vec<_>>(), ["HYPERION"]);
}

#[test]
fn an_empty_house_is_recorded_after_three_minutes() {
    let mut quiet = Quiet::start();
    quiet.listings(0, fine);
    for auction in &mut quiet.world.auctions {
        (auction.sold, auction.cancelled) = (None, Some(START + 30 * SECOND));
    }
    quiet.world.auctions[7].cancelled = None;
    quiet.world.auctions[7].sold = Some(START + 30 * SECOND);
    for (minute, sales) in [(1, 1), (2, 0)] {
        let ran = quiet.run(MINUTE * minute, fine);
        assert!(matches!(ran.found, Err(Failure::Empty)), "minute {minute}");
        assert_eq!(ran.lists[0].auctions.len(), sales, "minute {minute}");
    }
    assert_eq!(quiet.run(3 * MINUTE, fine).found.unwrap().minute.prices, []);
    // The house opens again, with three pages.
    (0..60).for_each(|number| quiet.world.begin(0, 50 + number, START + 3 * MINUTE + number + 1, 9_000));
    assert_eq!(quiet.listings(4, fine), 60);
    // A single response without rows does not mean that the house is empty.
    let closed = quiet.world.auctions.split_off(0);
    assert!(quiet.run(5 * MINUTE, fine).found.is_err());
    quiet.world.auctions = closed;
    assert_eq!(quiet.listings(6, fine), 60);
}
