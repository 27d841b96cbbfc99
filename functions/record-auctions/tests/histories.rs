//! Random histories of an auction house against a computation that sees everything at once.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::iter;
use std::sync::LazyLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::time::{Tick, UnixMilliseconds, UnixSeconds};
use common::upstream::{UpstreamError, UpstreamResponse, auctions, ended_auctions};
use fastnbt::{Value, nbt};
use fastrand::Rng;
use proptest::prelude::*;
use record_auctions::reading::{Failure, Found, Reading, Request};
use serde_json::json;
use tables::auctions::{Coins, RecordedMinute, covered, sales};

const START: i64 = 1_777_388_460_000;
const MINUTE: i64 = 60_000;

/// For how long a list of ended auctions has the sales.
const LISTED: i64 = 62_000;

/// The rows of a page, and the number of auctions that stay.
const PAGE: usize = 3;
const STAYING: usize = PAGE + 1;

/// The items: the ids that each counts under, the count of a stack, and its bytes. The last one makes no sense.
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

#[derive(Debug, Clone)]
struct Auction {
    item: usize,
    price: i64,
    is_bin: bool,
    start: i64,
    end: i64,
    updated: i64,
    sold: Option<i64>,
    is_cancelled: bool,
}

impl Auction {
    fn is_listed(&self, now: i64) -> bool {
        !self.is_cancelled && self.sold.is_none_or(|sold| sold > now) && self.end > now
    }
}

/// The auction house, and the rows that it listed at each refresh.
#[derive(Debug, Default)]
struct World {
    auctions: Vec<Auction>,
    refreshes: Vec<Vec<serde_json::Value>>,
}

fn refresh_at(minute: usize) -> i64 {
    START + MINUTE * i64::try_from(minute).unwrap()
}

impl World {
    fn begin(&mut self, item: usize, price: i64, minutes: i64, is_bin: bool) {
        let start = refresh_at(self.refreshes.len()) - price;
        let (end, sold, is_cancelled) = (start + MINUTE * minutes, None, false);
        self.auctions.push(Auction { item, price, is_bin, start, end, updated: start, sold, is_cancelled });
    }

    /// Lets a minute pass in which auctions begin, are bid on, sold and cancelled.
    fn pass_by_chance(&mut self, chance: &mut Rng) {
        for _ in 0..chance.usize(..6) {
            self.begin(chance.usize(..4), chance.i64(1..300), chance.i64(1..40), chance.u8(..5) > 0);
        }
        let now = refresh_at(self.refreshes.len());
        let running = self.auctions.iter_mut().skip(STAYING).filter(|auction| auction.is_listed(now));
        for auction in running {
            match (chance.u8(..40), auction.is_bin) {
                (0, _) => auction.is_cancelled = true,
                (1 | 2, true) => auction.sold = Some(now - 199 * auction.price),
                (1..6, false) => (auction.updated, auction.sold) = (now - 7, Some(auction.end)),
                _ => {}
            }
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        let now = refresh_at(self.refreshes.len());
        let mut listed: Vec<_> = self.auctions.iter().enumerate().collect();
        listed.retain(|(_, auction)| auction.is_listed(now));
        listed.sort_by_key(|(_, auction)| -auction.updated);
        let row = |(id, auction): (usize, &Auction)| {
            let Auction { item, price, is_bin, start, end, updated, .. } = auction;
            json!({
                "uuid": format!("{id:032x}"), "start": start, "end": end, "last_updated": updated, "bin": is_bin,
                "starting_bid": price, "item_bytes": ITEMS[*item].2,
            })
        };
        self.refreshes.push(listed.into_iter().map(row).collect());
    }

    fn pages(&self, minute: usize) -> usize {
        self.refreshes[minute].len().div_ceil(PAGE)
    }

    /// The auctions in the list of this minute.
    fn ended(&self, minute: usize) -> impl Iterator<Item = (usize, &Auction)> {
        let now = refresh_at(minute);
        let is_in = move |sold: i64| now - LISTED < sold && sold <= now;
        self.auctions.iter().enumerate().filter(move |(_, auction)| auction.sold.is_some_and(is_in))
    }

    fn list(&self, minute: usize) -> UpstreamResponse {
        let row = |(id, auction): (usize, &Auction)| {
            json!({
                "auction_id": format!("{id:032x}"), "timestamp": auction.sold, "price": auction.price,
                "bin": auction.is_bin, "item_bytes": ITEMS[auction.item].2,
            })
        };
        let rows: Vec<_> = self.ended(minute).map(row).collect();
        let body = json!({"success": true, "lastUpdated": refresh_at(minute), "auctions": rows});
        UpstreamResponse::new(ended_auctions::PATH, body.to_string())
    }

    /// The page in this minute, if it exists.
    fn page(&self, page: usize, minute: usize, lagging: u64) -> Option<UpstreamResponse> {
        // The first page even goes back.
        let lag = if lagging >> page.min(63) & 1 == 0 { 0 } else { 1 + usize::from(page == 0) };
        let minute = minute.saturating_sub(lag);
        let rows = self.refreshes[minute].chunks(PAGE).nth(page)?;
        let body = json!({
            "success": true, "page": page, "totalPages": self.pages(minute), "totalAuctions": 0,
            "lastUpdated": refresh_at(minute), "auctions": rows,
        });
        Some(UpstreamResponse::new(auctions::PATH, body.to_string()))
    }

    /// For each id the prices of its auctions in this minute, in hundredths of a coin and from low to high, each with its auction.
    fn prices(&self, minute: usize) -> BTreeMap<&'static str, BTreeSet<(u64, u128)>> {
        let mut prices = BTreeMap::<_, BTreeSet<_>>::new();
        for (id, auction) in (0..).zip(&self.auctions) {
            if auction.is_bin && auction.is_listed(refresh_at(minute)) {
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

/// Runs the recorder in this minute, with this many attempts, and returns the number of requests as well.
fn run(
    reading: &mut Reading,
    world: &World,
    minute: usize,
    (lagging, lost): (u64, u64),
    attempts: usize,
) -> (Result<Found, Failure>, usize) {
    let now = UnixMilliseconds::new(refresh_at(minute) + 5_000);
    let mut requests = 0;
    reading.begin(now);
    for _ in 0..attempts {
        reading.begin_attempt();
        while let Some(request) = reading.next_request() {
            requests += 1;
            let (bit, response) = match request {
                Request::EndedAuctions => (0, Some(world.list(minute))),
                Request::Page(page) => (page + 1, world.page(page as usize, minute, lagging)),
            };
            match response.filter(|_| lost >> bit.min(63) & 1 == 0) {
                Some(response) => reading.learn(request, &response, Tick::of(now)).unwrap(),
                None => reading.note_failure(request, UpstreamError::Paused),
            }
        }
    }
    (reading.finish(), requests)
}

/// Panics unless each price is that of an auction of the item that is neither over nor sold.
fn expect_real(world: &World, minute: &tables::auctions::Minute, sold: &BTreeSet<usize>) {
    let refresh = minute.last_updated.get();
    for ((id, price), auction) in minute.prices.iter().zip(&minute.lowest) {
        let position = usize::try_from(u128::from_be_bytes(auction.bytes())).unwrap();
        assert!(!sold.contains(&position), "{position} is sold");
        let auction = &world.auctions[position];
        let (ids, count, _) = &ITEMS[auction.item];
        assert!(ids.contains(&id.as_str()) && auction.is_bin, "{id:?}: {auction:?}");
        assert!(refresh < auction.end, "{id:?}: {auction:?}");
        let rounded = price.lowest.hundredths().cast_signed() * count - auction.price * 100;
        assert!(rounded.abs() * 2 <= *count, "{id:?}: {price:?} of {auction:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn after_two_complete_readings_prices_are_right_and_sales_count_once(
        history in prop::collection::vec(any::<u64>(), 1..40),
    ) {
        let (mut world, mut reading) = (World::default(), Reading::default());
        (0..STAYING).for_each(|_| world.begin(0, 100, 9_000, true));
        world.refresh();
        // What the present recorder must know.
        let mut sold = BTreeSet::new();
        let (mut recorded, mut lists, mut complete) = (Vec::new(), Vec::new(), 0);
        let chances = history.iter().map(|seed| Some(Rng::with_seed(*seed)));
        for (at, chance) in (1..).zip(chances.chain(iter::repeat_with(|| None))) {
            prop_assert!(at < history.len() + 60, "no two complete readings in an hour");
            let (mut lagging, mut lost) = (0, 0);
            if let Some(mut chance) = chance {
                world.pass_by_chance(&mut chance);
                // None, one or many.
                let mut bits = || [0, 0, 1 << chance.u8(..64), chance.u64(..)][chance.usize(..4)];
                (lagging, lost) = (bits(), bits());
                if chance.u8(..20) == 0 {
                    (reading, sold) = (Reading::default(), BTreeSet::new());
                }
                if chance.u8(..10) == 0 {
                    continue;
                }
            } else {
                world.refresh();
            }
            let Ok(found) = run(&mut reading, &world, at, (lagging, lost), 1).0 else { continue };
            if found.minute.sales.is_some() {
                lists.push(at);
                sold.extend(world.ended(at).map(|(position, _)| position));
            }
            expect_real(&world, &found.minute, &sold);
            complete += usize::from(at > history.len() && found.pages == world.pages(at));
            let slot = UnixSeconds::from(UnixMilliseconds::new(refresh_at(at)));
            let tables::auctions::Minute { last_updated, prices, sales, .. } = found.minute;
            recorded.push(RecordedMinute { slot, hash: String::new(), last_updated, prices, sales });
            if complete == 2 {
                break;
            }
        }
        let expected = world.prices(world.refreshes.len() - 1);
        let expected = expected.iter().map(|(id, auctions)| {
            let mut prices = auctions.iter().map(|(price, _)| *price);
            (id.to_string(), prices.next().unwrap(), prices.next(), auctions.len())
        });
        let prices = recorded.last().unwrap().prices.iter().map(|(id, price)| {
            let second = price.second.map(Coins::hundredths);
            (id.as_str().to_owned(), price.lowest.hundredths(), second, price.listings as usize)
        });
        prop_assert_eq!(prices.collect::<Vec<_>>(), expected.collect::<Vec<_>>());

        // The sales of every list that was read, as far as the item makes sense.
        let sold = lists.iter().flat_map(|minute| world.ended(*minute));
        let sold = sold.filter(|(_, auction)| !ITEMS[auction.item].0.is_empty());
        let sold: BTreeMap<_, _> = sold.map(|(id, auction)| (format!("{id:032x}"), auction.price.unsigned_abs())).collect();
        let [begin, end] = [0, i64::MAX / 1_000].map(UnixSeconds::new);
        let counted = sales(&recorded, begin, end);
        prop_assert_eq!(counted.len(), sold.len());
        let counted: BTreeMap<_, _> = counted.iter().map(|sale| (sale.auction.to_string(), sale.price)).collect();
        prop_assert_eq!(counted, sold);
        prop_assert_eq!(covered(&recorded, begin, end), Duration::from_mins(lists.len() as u64));
    }
}

#[test]
fn requests_stay_within_ten_a_minute_whatever_fails() {
    let minutes = 360;
    for (lost, least) in
        [(0_u64, minutes / 10), (1, minutes / 12), (1 << 9, 0), (!0, 0), (!0 << 2, 0), (!0 << 30, 0)]
    {
        let (mut world, mut reading) = (World::default(), Reading::default());
        (0..3 * 60).for_each(|number| world.begin(0, number + 1, 9_000, true));
        world.refresh();
        let (mut requests, mut complete) = (0, 0);
        for minute in 0..minutes {
            let (found, sent) = run(&mut reading, &world, minute, (0, lost), 8);
            requests += sent;
            complete += usize::from(found.is_ok_and(|found| found.pages == 60));
            world.refresh();
        }
        assert!(requests <= 150 + 10 * minutes, "{requests} requests with {lost:x}");
        assert!(complete >= least, "{complete} complete readings with {lost:x}");
    }
}

#[test]
fn a_new_auction_is_found_at_once_and_a_cancelled_one_after_two_complete_readings() {
    let (mut world, mut reading) = (World::default(), Reading::default());
    let mut listings = |world: &mut World, at, lost, pages| {
        world.refresh();
        let found = run(&mut reading, world, at, (0, lost), 1).0.unwrap();
        assert_eq!(found.pages, pages, "minute {at}");
        found.minute.prices[0].1.listings
    };
    (0..60).for_each(|_| world.begin(0, 100, 9_000, true));
    assert_eq!(listings(&mut world, 0, 0, 20), 60);
    // On three pages.
    (0..7).for_each(|_| world.begin(0, 100, 9_000, true));
    assert_eq!(listings(&mut world, 1, 0, 3), 67);
    world.auctions[30].is_cancelled = true;
    assert_eq!(listings(&mut world, 2, 0, 1), 67);
    // The next run reads a page that was lost. Only the last one completes a reading so.
    for at in 3..30 {
        let (lost, pages) = match at {
            10 => (1 << 22, 21),
            11 => (0, 2),
            21 => (1 << 9, 21),
            22 => (0, 22),
            _ => (0, 1),
        };
        assert_eq!(listings(&mut world, at, lost, pages), if at < 22 { 67 } else { 66 }, "minute {at}");
    }
}
