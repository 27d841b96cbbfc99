//! Prices of all products during one interval, one line per slot: those of the bazaar, and candles of auctions.
//!
//! Minutes are kept for two days, but candles of them for longer. So the minutes of a file are also gathered into candles, older ones
//! only into candles. `record-candles` builds the coarser ones.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use common::request::parameters::InvalidValue;
use common::response::excerpt::Excerpt;
use common::time::UnixSeconds;
use futures_util::{StreamExt as _, stream};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use tables::series::{self, Candle, Candles, Interval, Recorded, Slot};
use tables::{Session, Table};

use super::{OPERATION_TIMEOUT, patiently, summary};
use crate::console::Console;
use crate::error::Error;
use crate::transfer::line::{BadLine, past};
use crate::transfer::{Kind, Rows, Stored, Tally, now};

/// How many slots an export reads ahead.
const READ_AHEAD: usize = 4;
/// Candles that expire sooner are not gathered: `record-candles` may take hours until it has built coarser ones of a long file.
const BUILDING_TIME: Duration = Duration::from_hours(48);

/// A candle that lines have.
pub(super) trait LineCandle: Candle<Id: FromStr<Err = InvalidValue>> + Debug {
    /// The field with the candles.
    const FIELD: &'static str;
    /// What a candle must be.
    const ALLOWED: &'static str;
    /// The candle in a line.
    type Text;

    /// The intervals of lines, from fine to coarse.
    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval>;

    /// The fields of the line.
    fn fields(line: &str) -> Result<Fields<Self::Text>, BadLine>;

    /// Reads the candle in a line. `None` if the text is not a candle.
    fn read(slot: Slot, text: &Self::Text) -> Option<Self>;

    /// Whether the product had any price. One without is not stored.
    fn has_price(&self) -> bool;

    /// The candle as a line has it.
    fn written(&self, slot: Slot) -> impl Serialize;

    /// Records the minute, if lines have minutes. Returns whether it was not recorded before.
    async fn record_minute(_: Session<'_>, _: Slot, _: &Candles<Self>) -> Result<bool, Error> {
        Ok(false)
    }
}

/// The interval, the start of the slot and the candles of a line, by product.
pub(super) struct Fields<T> {
    pub(super) interval: String,
    pub(super) opened_at: UnixSeconds,
    pub(super) texts: Vec<(String, T)>,
}

/// The candles of a slot. Those of a minute have one sample.
#[derive(Debug, PartialEq)]
pub(super) struct Slice<C: Candle> {
    pub(super) slot: Slot,
    pub(super) candles: Candles<C>,
}

impl<C: LineCandle> Slice<C> {
    pub(super) fn parse(line: &str, now: UnixSeconds) -> Result<Self, BadLine> {
        let Fields { interval: name, opened_at, texts } = C::fields(line)?;
        let interval = C::intervals().find(|interval| interval.name == name).ok_or_else(|| {
            let names: Vec<_> = C::intervals().map(|interval| interval.name).collect();
            BadLine::new(format!("interval: it must be one of {}, not {name}", names.join(", ")))
        })?;
        let slot = started(interval.at(opened_at), opened_at, now)?;
        let mut candles = Candles::<C>::new();
        for (id, text) in texts {
            let bad = |reason: &str| BadLine::new(format!("{}: {}: {reason}", C::FIELD, Excerpt::of(&id)));
            let item_id: C::Id = id
                .parse()
                .map_err(|InvalidValue { allowed }| bad(&format!("an item id must be {allowed}")))?;
            let candle = C::read(slot, &text).ok_or_else(|| bad(C::ALLOWED))?;
            if candle.has_price() && candles.insert(item_id, candle).is_some() {
                return Err(bad("it appears twice"));
            }
        }
        if candles.is_empty() {
            return Err(BadLine::new(format!("{}: at least one must have a price", C::FIELD)));
        }
        Ok(Self { slot, candles })
    }
}

fn is_minute(slot: Slot) -> bool {
    slot.interval.length == Duration::from_mins(1)
}

/// Checks that a slot starts at this time and has ended. Seconds of a minute are dropped, and it may be the present one.
fn started(slot: Slot, opened_at: UnixSeconds, now: UnixSeconds) -> Result<Slot, BadLine> {
    let Slot { interval, start } = slot;
    if is_minute(slot) {
        return past("opened_at", opened_at, now).map(|_| slot);
    }
    if start != opened_at {
        return Err(BadLine::new(format!(
            "opened_at: {opened_at} is not the start of an interval of {}; the one that contains it starts at {start}",
            interval.name
        )));
    }
    if slot.end() > now {
        return Err(BadLine::new(format!(
            "opened_at: the interval of {} that starts at {start} has not ended; the clock of this machine shows {now}",
            interval.name
        )));
    }
    Ok(slot)
}

impl<C: LineCandle> Serialize for Slice<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { slot, candles } = self;
        let candles = candles.iter().map(|(id, candle)| (id.as_ref(), candle.written(*slot)));
        let mut line = serializer.serialize_struct("Slice", 3)?;
        line.serialize_field("interval", slot.interval.name)?;
        line.serialize_field("opened_at", &slot.start)?;
        line.serialize_field(C::FIELD, &candles.collect::<BTreeMap<_, _>>())?;
        line.end()
    }
}

/// The prices of a series in the table.
pub(super) struct Slices<C: Candle> {
    table: Table,
    console: Console,
    tally: Tally,
    gathered: Option<Gathered<C>>,
}

/// Minutes that are gathered into the candles of a slot.
struct Gathered<C: Candle> {
    slot: Slot,
    minutes: BTreeMap<UnixSeconds, Candles<C>>,
    /// How many lines are not counted yet, because their result is that of the candles.
    waiting: u64,
}

/// The slot into whose candles the minute is gathered, of the finest interval that still keeps them. All minutes of a day get the same
/// interval, because `record-candles` builds coarser candles of one interval only.
fn slot_of(minute: UnixSeconds, intervals: &'static [Interval]) -> Option<Slot> {
    let day = intervals.last()?;
    let since = day.slot(minute).minus(BUILDING_TIME);
    Some(intervals.iter().find(|interval| interval.keeps(since, now())).unwrap_or(day).at(minute))
}

impl<C: LineCandle> Slices<C> {
    pub(super) fn of(table: Table, console: &Console) -> Self {
        Self { table, console: console.clone(), tally: Tally::default(), gathered: None }
    }

    const fn session(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    /// Stores and counts the candles of these lines, and notes that coarser ones must be built of them.
    async fn store_candles(&mut self, slot: Slot, candles: &Candles<C>, lines: u64) -> Result<(), Error> {
        let rows = patiently(async || series::store(self.session(), slot, candles).await).await?;
        // Even if nothing changed: an earlier import may have been killed before it noted that.
        patiently(async || series::build_again(self.session(), C::SERIES, slot.start).await).await?;
        self.tally.count(lines, rows > 0);
        Ok(())
    }

    /// Records the minute if it is kept, and gathers it. Of two lines with the same minute, the first one counts.
    async fn store_minute(&mut self, minute: Slot, candles: Candles<C>, is_kept: bool) -> Result<(), Error> {
        if is_kept {
            let is_new = C::record_minute(self.session(), minute, &candles).await?;
            self.tally.count(1, is_new);
        }
        let Some(slot) = slot_of(minute.start, C::SERIES.intervals) else { return Ok(()) };
        if self.gathered.as_ref().is_some_and(|gathered| gathered.slot != slot) {
            self.finish().await?;
        }
        let new = || Gathered { slot, minutes: BTreeMap::new(), waiting: 0 };
        let gathered = self.gathered.get_or_insert_with(new);
        let is_new = !gathered.minutes.contains_key(&minute.start);
        gathered.minutes.entry(minute.start).or_insert(candles);
        if !is_kept {
            *(if is_new { &mut gathered.waiting } else { &mut self.tally.already_there }) += 1;
        }
        Ok(())
    }

    /// Reads a slot. Without its last rows, it is skipped: it was changed by hand, or it expired.
    async fn row(&self, slot: Slot) -> Result<Stored<Slice<C>>, Error> {
        let Some(Recorded { candles, corrupt }) = series::recorded_candles(self.session(), slot).await?
        else {
            self.console.print(format_args!("{slot} is incomplete in the table and is skipped"));
            return Ok(Stored { row: None, skipped: slot.interval.keeps(slot.start, now()).into() });
        };
        Ok(Stored { row: (!candles.is_empty()).then_some(Slice { slot, candles }), skipped: corrupt as u64 })
    }
}

impl<C: LineCandle> Kind for Slices<C> {
    type Row = Slice<C>;

    fn parse(line: &str, now: UnixSeconds) -> Result<Slice<C>, BadLine> {
        Slice::parse(line, now)
    }

    async fn store(&mut self, _: u64, Slice { slot, candles }: Slice<C>) -> Result<(), Error> {
        match (slot.interval.keeps(slot.start, now()), is_minute(slot)) {
            (is_kept, true) => self.store_minute(slot, candles, is_kept).await?,
            (true, false) => self.store_candles(slot, &candles, 1).await?,
            (false, false) => self.tally.left_out += 1,
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), Error> {
        let Some(Gathered { slot, minutes, waiting }) = self.gathered.take() else { return Ok(()) };
        let mut joined = Candles::<C>::new();
        for (id, later) in minutes.into_values().flatten() {
            let candle = match joined.remove(&id) {
                Some(earlier) => earlier.followed_by(later),
                None => later,
            };
            joined.insert(id, candle);
        }
        // The recorder builds the current slot when all of its minutes are recorded.
        if slot.end() <= now() { self.store_candles(slot, &joined, waiting).await } else { Ok(()) }
    }

    fn summary(&self) -> String {
        summary(&self.tally)
    }

    /// From coarse to fine: `record-candles` may run during an import, and would build coarse candles of a part of the finer ones.
    async fn rows(&mut self) -> Result<Rows<'_, Slice<C>>, Error> {
        let mut slots = Vec::new();
        for interval in C::intervals().rev() {
            slots.extend(series::recorded(self.session(), interval, now()).await?);
        }
        let this = &*self;
        Ok(stream::iter(slots).map(|slot| this.row(slot)).buffered(READ_AHEAD).boxed_local())
    }
}
