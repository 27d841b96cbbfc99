//! The past of auctions: candles, and the sales and texts of each hour, from which averages are built. The
//! past has the items that are on sale now. Their prices follow trends that end at the current prices, and
//! past sales are drawn from the current auctions.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::{AuctionId, STACK_PRICES};
use files::listings::Properties;
use record_auctions::item::{Buffers, Item, read};
use simulator::auctions::{Offer, Trend, offers, sold};
use tables::Error;
use tables::auctions::{
    Candle, Candles, Coins, HourSales, Listed, SERIES, Sale, Sold, SoldAuction, build_averages, write_texts,
};
use tables::series::{Interval, Slot, rows};

use super::past::{DAY, Game, Past, Unstored};

const HOUR: Duration = Duration::from_hours(1);
/// The minimum number of days of hourly candles and of texts: the longest window of averages.
const LEAST_DAYS: u16 = 7;
/// The length of the parts from which a day without hourly candles is computed.
const PART: Duration = Duration::from_hours(6);

pub(super) struct Auctions {
    seed: u64,
    now: UnixSeconds,
    /// Computed only if the table lacks part of the past.
    market: OnceLock<Market>,
}

/// The auctions that are on sale now.
struct Market {
    items: BTreeMap<AuctionItemId, Offered>,
    /// The auctions, as if they were sold at their current prices.
    auctions: Vec<SoldAuction>,
}

/// An item that is on sale now.
struct Offered {
    trend: Trend,
    lowest: Coins,
    /// The number of auctions of the item.
    listings: u32,
}

/// The hour, counted from 1970.
fn hour_of(time: UnixSeconds) -> i64 {
    time.get() / 3_600
}

/// The start of the longest window of averages.
fn averaged_from(past: &Past<Auctions>) -> UnixSeconds {
    past.until.minus(DAY * LEAST_DAYS.into())
}

impl Auctions {
    pub(super) fn new(seed: u64, now: UnixSeconds) -> Self {
        Self { seed, now, market: OnceLock::new() }
    }

    pub(super) fn until(now: UnixSeconds) -> UnixSeconds {
        SERIES.finest.slot(now)
    }

    fn market(&self) -> &Market {
        self.market.get_or_init(|| {
            let mut buffers = Buffers::default();
            let mut items = BTreeMap::new();
            let mut auctions = Vec::new();
            for Offer { item_bytes, price } in offers(self.seed, self.now.get() * 1_000) {
                let Ok(Item { id, also, count, properties }) = read(&item_bytes, &mut buffers) else {
                    continue;
                };
                let Properties { clean, level, .. } = properties;
                let sold_at = UnixMilliseconds::new(0);
                let sale = Sale { sold_at, price, amount: count, bin: true, clean, level };
                let ids: Vec<_> = [id].into_iter().chain(also).collect();
                for id in &ids {
                    // The price of a variant follows the trend of its item.
                    let trend = || Trend::new(self.seed, id.as_str().split('+').next().unwrap_or_default());
                    let lowest = sale.price_of_one();
                    let new = || Offered { trend: trend(), lowest, listings: 0 };
                    let listed = items.entry(id.clone()).or_insert_with(new);
                    (listed.lowest, listed.listings) = (lowest.min(listed.lowest), listed.listings + 1);
                }
                auctions.push(SoldAuction { auction: AuctionId::of_bytes([0; 16]), items: ids, sale });
            }
            Market { items, auctions }
        })
    }

    /// The auctions that were sold in the hours from `first` to before `end`.
    fn sold(&self, first: i64, end: i64) -> Vec<SoldAuction> {
        let Market { items, auctions } = self.market();
        let now = hour_of(self.now);
        let sold_in = |hour| {
            sold(self.seed, hour, auctions.len()).into_iter().filter_map(move |(number, sold_ms)| {
                let auction = auctions.get(number)?;
                let trend = &items.get(auction.items.first()?)?.trend;
                let price = trend.price(auction.sale.price, now, hour).max(*STACK_PRICES.start());
                let sale = Sale { price, sold_at: UnixMilliseconds::new(sold_ms), ..auction.sale };
                Some(SoldAuction { sale, ..auction.clone() })
            })
        };
        (first..end).flat_map(sold_in).collect()
    }

    /// The sales of the hours from `first` to before `end`.
    fn sales(&self, first: i64, end: i64) -> HourSales {
        HourSales::of(self.sold(first, end).iter(), HOUR)
    }
}

impl Game for Auctions {
    type Candle = Candle;

    fn days(interval: &Interval, days: u16) -> u16 {
        if interval.length == HOUR { days.clamp(LEAST_DAYS, 90) } else { 90 }
    }

    fn part_length(finer: Option<&Interval>) -> Duration {
        finer.map_or(HOUR, |_| PART)
    }

    fn part(&self, start: UnixSeconds, length: Duration) -> Candles {
        let [first, end, now] = [start, start.plus(length), self.now].map(hour_of);
        let sales = self.sales(first, end).items;
        let candle = |(id, offered): (&AuctionItemId, &Offered)| {
            let Offered { trend, lowest, listings } = offered;
            let [open, close] = [first, end].map(|hour| trend.price(lowest.hundredths(), now, hour));
            let samples = 60 * u32::try_from(end - first).ok()?;
            let sum = (open + close) * u64::from(samples) / 2;
            let [open, high, low, close] =
                [open, open.max(close), open.min(close), close].map(Coins::of_hundredths);
            let listed = Listed { open, high, low, close, sum, listings: *listings, samples };
            let candle = Candle {
                listed: trend.is_listed(first, *listings).then_some(listed),
                sold: sales.get(id).and_then(Sold::of).map(|sold| sold.condensed()),
            };
            (candle.listed.is_some() || candle.sold.is_some()).then(|| (id.clone(), candle))
        };
        self.market().items.iter().filter_map(candle).collect()
    }

    /// Stores the candles of a slot. If the slot is an hour in the longest window of averages, stores the
    /// texts of the hour first.
    async fn store(past: &Past<Self>, slot: Slot, candles: &Candles) -> Result<(), Unstored> {
        if slot.interval.length == HOUR && slot.start >= averaged_from(past) {
            let hour = hour_of(slot.start);
            let sales = past.game.sales(hour, hour + 1);
            past.import(sales.rows(slot.start)).await?;
            write_texts(past.session(), slot, &sales, candles, 60).await?;
        }
        Ok(past.import(rows(slot, candles)).await?)
    }

    /// Builds the averages after the oldest day of the longest window, because all hours of the window are
    /// stored then.
    async fn complete(past: &Past<Self>, day: Slot, _: bool) -> Result<(), Error> {
        if day.start == averaged_from(past).rounded_down(DAY) {
            build_averages(past.session(), past.until).await?;
        }
        Ok(())
    }
}
