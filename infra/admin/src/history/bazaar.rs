//! Prices of the bazaar, one line per minute or candle interval.
//!
//! Minutes are kept for two days, but candles of them for longer. So the minutes of a file are also gathered into candles, older ones
//! only into candles. `record-candles` builds the coarser ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use common::time::{Tick, UnixSeconds};
use futures_util::{StreamExt, stream};
use tables::bazaar::{Candles, INTERVALS, MINUTES, SERIES, record};
use tables::series::{self, Candle as _, Slot, is_due};
use tables::{Error, Session, Table};

use super::kind::{Kind, OPERATION_TIMEOUT, Rows, Tally, now, patiently, stored};
use super::line::BadLine;
use super::prices::Prices;

/// How many slots an export reads ahead.
const READ_AHEAD: usize = 4;
/// How many slots of candles an import gathers minutes for at the same time, and how many minutes of each it keeps apart. They bound the
/// memory that it takes: 60 minutes of all products take 20 MB.
const GATHERED_SLOTS: usize = 4;
const SEPARATE_MINUTES: usize = 60;
/// Candles that expire sooner are not gathered: `record-candles` may take hours until it has built coarser ones of a long file.
const BUILDING_TIME: Duration = Duration::from_hours(48);

/// The table's prices.
pub(super) struct Bazaar {
    table: Table,
    gathered: VecDeque<Gathered>,
}

impl Bazaar {
    pub(super) fn of(table: Table) -> Self {
        Self { table, gathered: VecDeque::new() }
    }

    fn session(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    /// Stores the candles, and notes that coarser ones must be built of them. Returns whether they changed anything.
    async fn store_candles(&self, slot: Slot, candles: &Candles) -> Result<bool, Error> {
        let rows = patiently(async || series::store(self.session(), slot, candles).await).await?;
        // Even if nothing changed: an earlier import may have been killed before it noted that.
        patiently(async || series::build_again(self.session(), &SERIES, slot.start).await).await?;
        Ok(rows > 0)
    }

    /// Records the minute, and returns whether it was not recorded before.
    async fn record_minute(&self, minute: Slot, candles: &Candles) -> Result<bool, Error> {
        let tick = Tick::of(minute.start);
        if !patiently(async || is_due(self.session(), &MINUTES, tick, now()).await).await? {
            return Ok(false);
        }
        let quotes = candles.iter().map(|(id, candle)| (id.clone(), candle.close())).collect();
        patiently(async || record(self.session(), tick, &quotes).await).await?;
        Ok(true)
    }

    /// Stores the candles of the gathered minutes.
    async fn store_gathered(&self, gathered: Gathered, tally: &mut Tally) -> Result<(), Error> {
        let Gathered { slot, parts, waiting, .. } = gathered;
        // The recorder builds the current slot when all of its minutes are recorded.
        if let Some(candles) = parts.into_values().reduce(joined)
            && slot.end() <= now()
        {
            let is_new = self.store_candles(slot, &candles).await?;
            tally.count(waiting, is_new);
        }
        Ok(())
    }
}

/// Minutes that are gathered into the candles of a slot.
struct Gathered {
    slot: Slot,
    minutes: BTreeSet<UnixSeconds>,
    /// The candles of the minutes, by their times. Of many minutes, some are joined.
    parts: BTreeMap<UnixSeconds, Candles>,
    /// How many lines are not counted yet, because their result is that of the candles.
    waiting: u64,
}

impl Gathered {
    fn new(slot: Slot) -> Self {
        Self { slot, minutes: BTreeSet::new(), parts: BTreeMap::new(), waiting: 0 }
    }

    /// Adds a minute, and returns whether it is a new one. Of two lines with the same minute, the first one counts.
    fn add(&mut self, minute: UnixSeconds, candles: Candles) -> bool {
        if !self.minutes.insert(minute) {
            return false;
        }
        self.parts.insert(minute, candles);
        if self.parts.len() > SEPARATE_MINUTES
            && let Some((first, earlier)) = self.parts.pop_first()
            && let Some((_, later)) = self.parts.pop_first()
        {
            self.parts.insert(first, joined(earlier, later));
        }
        true
    }
}

/// The candles of both times together.
fn joined(mut earlier: Candles, later: Candles) -> Candles {
    for (id, later) in later {
        earlier.entry(id).and_modify(|candle| *candle = candle.followed_by(later)).or_insert(later);
    }
    earlier
}

/// The slot into whose candles the minute is gathered, of the finest interval that still keeps them. All minutes of a day get the same
/// interval, because `record-candles` builds coarser candles of one interval only.
fn slot_of(minute: UnixSeconds, now: UnixSeconds) -> Slot {
    let [.., day] = &INTERVALS;
    let since = day.slot(minute).minus(BUILDING_TIME);
    INTERVALS.iter().find(|interval| interval.keeps(since, now)).unwrap_or(day).at(minute)
}

impl Kind for Bazaar {
    type Row = Prices;

    fn parse(line: &str, now: UnixSeconds) -> Result<Prices, BadLine> {
        Prices::parse(line, now)
    }

    async fn store(&mut self, Prices { slot, candles }: Prices, tally: &mut Tally) -> Result<(), Error> {
        let is_kept = slot.interval.keeps(slot.start, now());
        if slot.interval != &MINUTES {
            if is_kept {
                let is_new = self.store_candles(slot, &candles).await?;
                tally.count(1, is_new);
            } else {
                tally.too_old += 1;
            }
            return Ok(());
        }
        if is_kept {
            let is_new = self.record_minute(slot, &candles).await?;
            tally.count(1, is_new);
        }
        let candle_slot = slot_of(slot.start, now());
        let known = self.gathered.iter().position(|gathered| gathered.slot == candle_slot);
        let known = known.and_then(|position| self.gathered.remove(position));
        let mut gathered = known.unwrap_or_else(|| Gathered::new(candle_slot));
        let is_new = gathered.add(slot.start, candles);
        if !is_kept {
            *(if is_new { &mut gathered.waiting } else { &mut tally.already_there }) += 1;
        }
        self.gathered.push_back(gathered);
        if self.gathered.len() > GATHERED_SLOTS
            && let Some(gathered) = self.gathered.pop_front()
        {
            self.store_gathered(gathered, tally).await?;
        }
        Ok(())
    }

    async fn finish(&mut self, tally: &mut Tally) -> Result<(), Error> {
        while let Some(gathered) = self.gathered.pop_front() {
            self.store_gathered(gathered, tally).await?;
        }
        Ok(())
    }

    async fn rows(&self) -> Result<Rows<'_, Prices>, Error> {
        let mut slots = Vec::new();
        // From coarse to fine: `record-candles` may run during an import, and would build coarse candles of a part of the finer ones.
        for interval in INTERVALS.iter().rev().chain([&MINUTES]) {
            slots.extend(series::recorded(self.session(), interval, now()).await?);
        }
        let total = u64::try_from(slots.len()).ok();
        let prices = |slot| stored(self.session(), slot, move |candles| Prices { slot, candles });
        Ok((total, stream::iter(slots).map(prices).buffered(READ_AHEAD).boxed_local()))
    }
}
