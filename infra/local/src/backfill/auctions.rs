//! Auctions of the simulated past: candles, and the texts of which averages are made. The past has the items that are on sale now. Their prices
//! follow their trends and end at the present ones, and sales are drawn from what is on sale.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use record_auctions::item::{Buffers, Item, read};
use simulator::auctions::{Offer, Trend, offers, sold as sold_in};
use tables::auctions::{
    Candle, Candles, Coins, HourTime, INTERVALS, Lowest, SERIES, Sale, Sold, build_averages, store_texts,
};
use tables::series::{Candle as _, Slot, begin_at, recorded, store};
use tables::{Session, Table};

use super::prices::{DAY, TIMEOUT, every};
use super::progress::State;

const HOUR: Duration = Duration::from_hours(1);
/// The days of hourly candles and of texts at least: the longest window of averages.
const LEAST_DAYS: u16 = 7;
/// The days of daily candles.
const DAYS: u16 = 90;
/// The length of the parts that a day without hours is made of, in hours.
const PART: u32 = 6;

/// Which slots the past has.
#[derive(Debug, Clone, Copy)]
struct Extent {
    days: u16,
    /// The end.
    until: UnixSeconds,
    now: UnixSeconds,
}

impl Extent {
    fn of(days: u16, now: UnixSeconds) -> Self {
        Self { days: days.clamp(LEAST_DAYS, DAYS), until: now.rounded_down(HOUR), now }
    }

    /// The start of the day this many days before the end.
    fn oldest(self, days: u16) -> UnixSeconds {
        // A slot before 1970 has no key.
        self.until.minus(DAY * days.into()).rounded_down(DAY).max(UnixSeconds::new(0))
    }

    /// The days, newest first.
    fn days(self) -> impl Iterator<Item = UnixSeconds> {
        let (oldest, last) = (self.oldest(DAYS), self.until.minus(Duration::from_secs(1)));
        let newest = Some(last.rounded_down(DAY));
        std::iter::successors(newest, |day| Some(day.minus(DAY))).take_while(move |day| *day >= oldest)
    }

    /// The hours of a day.
    fn hours(self, day: UnixSeconds) -> impl Iterator<Item = Slot> {
        let [hourly, _] = &INTERVALS;
        every(HOUR, day, day.plus(DAY).min(self.until)).map(|start| Slot { interval: hourly, start })
    }

    fn has(self, slot: Slot) -> bool {
        let [hourly, _] = &INTERVALS;
        let is_kept = slot.interval != hourly || slot.start >= self.until.minus(DAY * self.days.into());
        is_kept && slot.end() <= self.until && slot.interval.keeps(slot.start, self.now)
    }

    /// The hours of a day, and the day.
    fn slots(self, day: UnixSeconds) -> impl Iterator<Item = Slot> {
        let [_, daily] = &INTERVALS;
        let day_slot = Slot { interval: daily, start: day };
        self.hours(day).chain([day_slot]).filter(move |slot| self.has(*slot))
    }
}

/// An item that is on sale now.
struct Listed {
    id: AuctionItemId,
    trend: Trend,
    /// The lowest price at the level 1, in hundredths of a coin.
    usual: f64,
    /// The number of auctions.
    listings: u32,
}

/// What is on sale now.
struct Market {
    seed: u64,
    /// The items, sorted by id.
    items: Vec<Listed>,
    /// The auctions as if they were sold at the level 1, and the positions of their items.
    sales: Vec<(Sale, Vec<usize>)>,
}

/// The hour, counted from 1970.
fn hour_of(time: UnixSeconds) -> i64 {
    time.get() / 3_600
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "prices of the past are generated"
)]
fn scaled(price: u64, factor: f64) -> u64 {
    ((price as f64 * factor).round() as u64).max(1)
}

impl Market {
    /// The market with these auctions, at the end of the past.
    fn new(seed: u64, until: i64, offers: impl Iterator<Item = Offer>) -> Self {
        let mut buffers = Buffers::default();
        let mut lowest = BTreeMap::<AuctionItemId, (Coins, u32)>::new();
        let mut sales = Vec::new();
        for Offer { item_bytes, price } in offers {
            let Ok(Item { id, also, count, clean }) = read(&item_bytes, &mut buffers) else { continue };
            let items = [id].into_iter().chain(also).collect();
            let (auction, time) = (AuctionId::of_bytes([0; 16]), UnixMilliseconds::new(0));
            let sale = Sale { auction, items, count, price, time, bin: true, clean };
            for id in &sale.items {
                let (lowest, listings) = lowest.entry(id.clone()).or_insert((sale.price_of_one(), 0));
                (*lowest, *listings) = (sale.price_of_one().min(*lowest), *listings + 1);
            }
            sales.push(sale);
        }
        let item = |(id, (lowest, listings)): (AuctionItemId, (Coins, u32))| {
            // A variant moves with its item.
            let trend = Trend::new(seed, id.as_str().split('+').next().unwrap_or_default());
            let usual = lowest.coins() * 100.0 / trend.level(until);
            Listed { id, trend, usual, listings }
        };
        let items: Vec<_> = lowest.into_iter().map(item).collect();
        let position = |id: &AuctionItemId| items.binary_search_by(|item| item.id.cmp(id)).ok();
        let sale = |sale: Sale| {
            let positions: Vec<_> = sale.items.iter().filter_map(position).collect();
            let level =
                positions.first().and_then(|item| items.get(*item)).map(|item| item.trend.level(until));
            (Sale { price: scaled(sale.price, 1.0 / level.unwrap_or(1.0)), ..sale }, positions)
        };
        let sales = sales.into_iter().map(sale).collect();
        Self { seed, items, sales }
    }

    /// The candles of some hours together, in the order of the items, and their sales, which have items only if it is a
    /// single hour.
    fn candles(&self, first: i64, hours: u32) -> (Vec<Candle>, Vec<Sale>) {
        let end = first + i64::from(hours);
        let mut sales = Vec::new();
        let mut sold = vec![Vec::new(); self.items.len()];
        let [opening, closing] =
            [first, end].map(|hour| self.items.iter().map(|item| item.trend.level(hour)).collect::<Vec<_>>());
        let level_of = |items: &[usize]| opening.get(*items.first()?).copied();
        for number in (first..end).flat_map(|hour| sold_in(self.seed, hour, self.sales.len())) {
            let Some((sale, items)) = self.sales.get(number) else { continue };
            for item in items {
                sold.get_mut(*item).into_iter().for_each(|sold| sold.push(sales.len()));
            }
            let Sale { auction, count, time, bin, clean, .. } = *sale;
            let price = scaled(sale.price, level_of(items).unwrap_or(1.0));
            let items = if hours == 1 { sale.items.clone() } else { Vec::new() };
            sales.push(Sale { auction, items, count, price, time, bin, clean });
        }
        let levels = opening.iter().zip(&closing);
        let candle = |((item, sold), levels): ((&Listed, &Vec<usize>), (&f64, &f64))| {
            let [open, close] = [levels.0, levels.1].map(|level| scaled(1, item.usual * level));
            let sum = (open + close) * 30 * u64::from(hours);
            let [open, high, low, close] =
                [open, open.max(close), open.min(close), close].map(Coins::of_hundredths);
            let lowest = Lowest { open, high, low, close, sum, listings: item.listings, samples: 60 * hours };
            let sold: Vec<_> = sold.iter().filter_map(|number| sales.get(*number)).collect();
            let lowest = item.trend.is_listed(first, item.listings).then_some(lowest);
            Candle { lowest, sold: Sold::of(&sold) }
        };
        (self.items.iter().zip(&sold).zip(levels).map(candle).collect(), sales)
    }

    fn by_id(&self, candles: &[Candle]) -> Candles {
        let candles = self.items.iter().zip(candles);
        let candles = candles.filter(|(_, candle)| candle.lowest.is_some() || candle.sold.is_some());
        candles.map(|(item, candle)| (item.id.clone(), candle.clone())).collect()
    }
}

/// The auctions of the past.
pub(super) struct Past {
    table: Table,
    seed: u64,
    extent: Extent,
}

impl Past {
    /// The auctions of this many days before the time `now`.
    pub(super) fn new(table: Table, seed: u64, days: u16, now: UnixSeconds) -> Self {
        Self { table, seed, extent: Extent::of(days, now) }
    }

    /// The number of slots.
    pub(super) fn count(&self) -> usize {
        self.extent.days().map(|day| self.extent.slots(day).count()).sum()
    }

    /// Stores them, newest first. What is there stays as it is.
    pub(super) async fn store(self, state: &State) {
        let extent = self.extent;
        let begin = || begin_at(self.session(), &SERIES, extent.until);
        state.retry("the beginning of candles of auctions".to_owned(), begin).await;
        let mut known = HashSet::new();
        for interval in &INTERVALS {
            let recorded = recorded(self.session(), interval, extent.now).await;
            known.extend(recorded.unwrap_or_default().iter().map(|slot| (slot.interval.name, slot.start)));
        }
        let is_missing = |slot: &Slot| !known.contains(&(slot.interval.name, slot.start));
        let mut market = None;
        for day in extent.days() {
            if extent.slots(day).any(|slot| is_missing(&slot)) {
                if market.is_none() {
                    let (seed, until, now_ms) = (self.seed, hour_of(extent.until), extent.now.get() * 1_000);
                    let read = move || Market::new(seed, until, offers(seed, now_ms));
                    market = tokio::task::spawn_blocking(read).await.ok().map(Arc::new);
                }
                let Some(market) = &market else {
                    return state.log("local: history: auctions were not read");
                };
                self.store_day(day, market, is_missing, state).await;
            }
            state.advance(extent.slots(day).count() as u64);
            if day == extent.oldest(LEAST_DAYS) {
                let build = || build_averages(self.session(), extent.until);
                state.retry("averages of auctions".to_owned(), build).await;
            }
        }
    }

    async fn store_day(
        &self,
        day: UnixSeconds,
        market: &Arc<Market>,
        is_missing: impl Fn(&Slot) -> bool,
        state: &State,
    ) {
        let extent = self.extent;
        // Where there are no hours, a day is made of longer parts.
        let part = if extent.hours(day).any(|hour| extent.has(hour)) { 1 } else { PART };
        let mut whole = Vec::<Candle>::new();
        for hour in extent.hours(day).step_by(part as usize) {
            let (market_of_part, first) = (Arc::clone(market), hour_of(hour.start));
            let computed = tokio::task::spawn_blocking(move || market_of_part.candles(first, part)).await;
            let (candles, sales) = computed.unwrap_or_default();
            if extent.has(hour) && is_missing(&hour) {
                self.store_slot(hour, &market.by_id(&candles), &sales, state).await;
            }
            let mut earlier = whole.into_iter();
            let together = |later: Candle| match earlier.next() {
                Some(earlier) => earlier.followed_by(later),
                None => later,
            };
            whole = candles.into_iter().map(together).collect();
        }
        let [_, daily] = &INTERVALS;
        let whole_day = Slot { interval: daily, start: day };
        if extent.has(whole_day) && is_missing(&whole_day) {
            self.store_slot(whole_day, &market.by_id(&whole), &[], state).await;
        }
    }

    /// Stores the candles of a slot, and before it the texts of an hour of which averages are made.
    async fn store_slot(&self, slot: Slot, candles: &Candles, sales: &[Sale], state: &State) {
        let sales: Vec<_> = sales.iter().collect();
        let has_texts =
            slot.interval.length == HOUR && slot.start >= self.extent.until.minus(DAY * LEAST_DAYS.into());
        let time = HourTime { recorded: 60, covered: HOUR };
        let store_slot = || async {
            if has_texts {
                store_texts(self.session(), slot, candles, &sales, time).await?;
            }
            store(self.session(), slot, candles).await
        };
        state.retry(format!("auctions of {slot}"), store_slot).await;
    }

    fn session(&self) -> Session<'_> {
        self.table.with_timeout(TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T15:05:10Z.
    const NOW: UnixSeconds = UnixSeconds::new(1_795_273_510);

    #[test]
    fn hours_go_back_a_week_at_least_and_days_ninety_days_without_gaps() {
        for (days, hours) in [(1, 7), (7, 7), (30, 30), (90, 90)] {
            let extent = Extent::of(days, NOW);
            let slots: Vec<_> = extent.days().flat_map(|day| extent.slots(day)).collect();
            for (interval, days) in INTERVALS.iter().zip([hours, 90]) {
                let of_interval = slots.iter().filter(|slot| slot.interval == interval);
                let mut starts: Vec<_> = of_interval.map(|slot| slot.start).collect();
                starts.sort_unstable();
                let oldest = starts[0];
                assert!(oldest <= interval.slot(NOW.minus(DAY * days)), "{oldest} {}", interval.name);
                let all = every(interval.length, oldest, interval.slot(NOW));
                assert_eq!(starts, all.collect::<Vec<_>>(), "{}", interval.name);
            }
        }
    }

    #[test]
    fn prices_move_little_from_hour_to_hour_and_end_at_those_of_the_present() {
        let end = hour_of(NOW);
        let on_sale: Vec<_> = offers(1, NOW.get() * 1_000).step_by(100).collect();
        let mut now = BTreeMap::<AuctionItemId, Coins>::new();
        for Offer { item_bytes, price } in &on_sale {
            let Ok(Item { id, also, count, .. }) = read(item_bytes, &mut Buffers::default()) else {
                continue;
            };
            for id in [Some(id), also].into_iter().flatten() {
                let price = Coins::of_one(*price, count);
                now.entry(id).and_modify(|lowest| *lowest = price.min(*lowest)).or_insert(price);
            }
        }
        let market = Market::new(1, end, on_sale.into_iter());
        let mut moved = 0;
        for (hours, first) in [(1, end - 1), (1, end - 2), (6, end - 8)] {
            let (candles, sales) = market.candles(first, hours);
            assert!(!sales.is_empty() && sales.iter().all(|sale| sale.items.is_empty() == (hours > 1)));
            assert!(candles.iter().any(|candle| candle.sold.is_some()));
            let mut earlier = BTreeMap::new();
            for (id, Candle { lowest, .. }) in market.by_id(&candles) {
                let Some(Lowest { open, close, samples, .. }) = lowest else { continue };
                assert!(now.get(&id).is_none_or(|later| *later == close) && samples == 60 * hours, "{id:?}");
                assert!((open.coins() / close.coins() - 1.0).abs() < 0.2, "{id:?} {open:?} {close:?}");
                moved += usize::from(open != close);
                earlier.insert(id, open);
            }
            assert!(earlier.len() * 3 > market.items.len(), "{}", earlier.len());
            now = earlier;
        }
        assert!(moved * 2 > now.len(), "{moved} of {}", now.len());
    }
}
