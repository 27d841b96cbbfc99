//! The past of auctions: candles, and the texts of each hour (`tables`: `HourTexts`), from which averages are built. The past has the items
//! that are on sale now. Their prices follow trends that end at the current prices, and past sales are drawn from the current auctions.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use common::request::auction_item_id::AuctionItemId;
use common::time::{UnixMilliseconds, UnixSeconds};
use common::upstream::auctions::AuctionId;
use record_auctions::item::{Buffers, Item, read};
use simulator::auctions::{Offer, Trend, offers, sold};
use tables::Error;
use tables::auctions::{
    Candle, Candles, Coins, HourTexts, HourTime, Listed, SERIES, Sale, Sold, build_averages,
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
    /// The auctions as sales at their current prices.
    sales: Vec<Sale>,
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
            let mut sales = Vec::new();
            for Offer { item_bytes, price } in offers(self.seed, self.now.get() * 1_000) {
                let Ok(Item { id, also, count, clean, .. }) = read(&item_bytes, &mut buffers) else {
                    continue;
                };
                let ids = [id].into_iter().chain(also).collect();
                let auction = AuctionId::of_bytes([0; 16]);
                let sale = Sale {
                    auction,
                    items: ids,
                    count,
                    price,
                    time: UnixMilliseconds::new(0),
                    bin: true,
                    clean,
                };
                for id in &sale.items {
                    // The price of a variant follows the trend of its item.
                    let trend = || Trend::new(self.seed, id.as_str().split('+').next().unwrap_or_default());
                    let lowest = sale.price_of_one();
                    let new = || Offered { trend: trend(), lowest, listings: 0 };
                    let listed = items.entry(id.clone()).or_insert_with(new);
                    (listed.lowest, listed.listings) = (lowest.min(listed.lowest), listed.listings + 1);
                }
                sales.push(sale);
            }
            Market { items, sales }
        })
    }

    /// The sales of an hour.
    fn sales(&self, hour: i64) -> impl Iterator<Item = Sale> {
        let Market { items, sales } = self.market();
        sold(self.seed, hour, sales.len()).into_iter().filter_map(move |(number, sold_ms)| {
            let sale = sales.get(number)?;
            let trend = &items.get(sale.items.first()?)?.trend;
            let price = trend.price(sale.price, hour_of(self.now), hour);
            Some(Sale { price, time: UnixMilliseconds::new(sold_ms), ..sale.clone() })
        })
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
        let sales: Vec<_> = (first..end).flat_map(|hour| self.sales(hour)).collect();
        let mut sold = BTreeMap::<_, Vec<_>>::new();
        for sale in &sales {
            for id in &sale.items {
                sold.entry(id).or_default().push(sale);
            }
        }
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
                sold: sold.get(id).and_then(|sales| Sold::of(sales)),
            };
            (candle.listed.is_some() || candle.sold.is_some()).then(|| (id.clone(), candle))
        };
        self.market().items.iter().filter_map(candle).collect()
    }

    /// Stores the candles of a slot. If the slot is an hour in the longest window of averages, stores the texts of the hour first.
    async fn store(past: &Past<Self>, slot: Slot, candles: &Candles) -> Result<(), Unstored> {
        if slot.interval.length == HOUR && slot.start >= averaged_from(past) {
            let sales: Vec<_> = past.game.sales(hour_of(slot.start)).collect();
            let time = HourTime { recorded: 60, covered: HOUR };
            let mut texts = HourTexts::of(candles, &sales.iter().collect::<Vec<_>>(), time);
            past.import(texts.take_sold_rows(slot)).await?;
            texts.write_totals(past.session(), slot).await?;
        }
        Ok(past.import(rows(slot, candles)).await?)
    }

    /// Builds the averages after the oldest day of the longest window, because all hours of the window are stored then.
    async fn complete(past: &Past<Self>, day: Slot, _: bool) -> Result<(), Error> {
        if day.start == averaged_from(past).rounded_down(DAY) {
            build_averages(past.session(), past.until).await?;
        }
        Ok(())
    }
}
