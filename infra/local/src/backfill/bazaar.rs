//! The past of the bazaar: the minutes of the last hour, as `record-bazaar` would have recorded them, and
//! older candles of the game's prices. The candles of the newest minutes are built from these minutes, as
//! `record-candles` builds them.

use std::time::Duration;

use common::time::{Tick, UnixSeconds};
use simulator::bazaar;
use tables::Error;
use tables::bazaar::{Candle, Candles, ONE_MINUTE, Quote, Quotes, SERIES, record};
use tables::series::{Interval, Slot, build, build_again, is_due};

use super::past::{Game, PART, Past, every};

/// The maximum number of runs of [`build`]. Each run builds a part of the candles.
const MOST_RUNS: u32 = 100;
/// The pause between two runs.
const BETWEEN_RUNS: Duration = Duration::from_millis(100);

pub(super) struct Bazaar {
    pub(super) seed: u64,
}

impl Bazaar {
    /// The end of the computed candles. At the start of the cloud, `record-candles` then has one candle to
    /// build.
    pub(super) fn until(now: UnixSeconds) -> UnixSeconds {
        SERIES.finest.slot(now.minus(Duration::from_mins(7)))
    }

    /// The quotes that `record-bazaar` would record at this minute.
    fn quotes_at(&self, minute: UnixSeconds) -> Quotes {
        let quote = |market: bazaar::Quote| {
            // Products without a price are not recorded.
            if market.sell_price <= 0.0 && market.buy_price <= 0.0 {
                return None;
            }
            let averages =
                Quote::nearest(market.sell_price, market.buy_price, market.sell_volume, market.buy_volume)?;
            let quote = averages.with(
                [market.top_buy_order, market.top_sell_offer],
                [Some(market.sell_moving_week), Some(market.buy_moving_week)],
            );
            Some((market.id.parse().ok()?, quote?))
        };
        bazaar::quotes(self.seed, minute.get() * 1_000).filter_map(quote).collect()
    }
}

impl Game for Bazaar {
    type Candle = Candle;

    /// A slot takes up to 510 rows, one per shard, so fine intervals have few days.
    fn days(interval: &Interval, days: u16) -> u16 {
        match interval.name {
            "5m" => days.min(2),
            "30m" => days.min(7),
            "1d" => 90,
            _ => days.min(90),
        }
    }

    fn part_length(finer: Option<&Interval>) -> Duration {
        finer.unwrap_or(&ONE_MINUTE).length
    }

    fn part(&self, start: UnixSeconds, _: Duration) -> Candles {
        self.quotes_at(start).into_iter().map(|(id, quote)| (id, Candle::of(quote, start))).collect()
    }

    /// Once the newest day is stored, builds the candles of the recorded minutes, and rebuilds coarse candles
    /// that `record-candles` built before their finer candles were stored. In a new table, only the last
    /// `PART` can have such coarse candles; in any other table, the whole day can. Does nothing after an
    /// older day.
    async fn complete(past: &Past<Self>, day: Slot, is_new: bool) -> Result<(), Error> {
        if day.end() < past.until {
            return Ok(());
        }
        let from = if is_new { past.until.rounded_down(PART) } else { day.start };
        build_again(past.session(), &SERIES, from).await?;
        for _ in 0..MOST_RUNS {
            if build::<Candle>(past.session(), past.now).await?.is_done {
                break;
            }
            // `record-candles` may be building candles at the same time.
            tokio::time::sleep(BETWEEN_RUNS).await;
        }
        Ok(())
    }
}

impl Past<Bazaar> {
    /// Stores the minutes from `from` up to but not including `end`. Existing minutes stay unchanged.
    pub(super) async fn store_minutes(&self, from: UnixSeconds, end: UnixSeconds) {
        for minute in every(ONE_MINUTE.length, from, end) {
            let store = || async move {
                let tick = Tick::of(minute);
                if is_due(self.session(), &ONE_MINUTE, tick, self.now).await? {
                    record(self.session(), tick, &self.game.quotes_at(minute)).await?;
                }
                Ok::<_, Error>(())
            };
            self.progress.retry(minute, store).await;
        }
    }
}
