//! Prices of the bazaar, and candles of auctions: one line per slot, with all products of that slot. A slot
//! is one interval at one start time.
//!
//! The table keeps minutes for two days, and candles for longer. An import therefore also gathers minutes
//! into candles. Minutes older than two days become candles only. `record-candles` builds the coarser
//! candles.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use common::excerpt::Excerpt;
use common::json::Members;
use common::request::auction_item_id::AuctionItemId;
use common::request::parameters::InvalidValue;
use common::time::{UnixSeconds, now};
use futures_util::{StreamExt as _, stream};
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use tables::auctions::{HourSales, StoredSales};
use tables::series::{self, Candles, Interval, Recorded, SeriesCandle, Slot};
use tables::{Session, Table};

use super::patience::{OPERATION_TIMEOUT, patiently};
use crate::console;
use crate::error::Error;
use crate::row_file::line::{BadLine, parse, past};
use crate::row_file::writer::Writer;
use crate::row_file::{Kind, Tally};

/// How many slots an export reads ahead.
const READ_AHEAD: usize = 4;
/// The maximum number of products in a line: three times the number of items in auctions. With more products,
/// rows could be too large for DynamoDB.
const MAX_PRODUCTS: usize = 20_000;
/// Minutes are imported only if they ended at least this long ago: until then, their recorder may be at work,
/// and would skip a minute that is already recorded.
const RECORDING_TIME: Duration = Duration::from_mins(10);
/// Minutes are gathered only into candles that are kept for at least this long: after a long import,
/// `record-candles` may need hours to build coarser candles from them.
const BUILDING_TIME: Duration = Duration::from_hours(48);

pub(super) trait LineCandle: SeriesCandle<Id: FromStr<Err = InvalidValue>> {
    const FIELD: &'static str;
    /// The format of a candle, for error messages.
    const ALLOWED: &'static str;
    type Text: DeserializeOwned;

    /// The intervals of lines, from fine to coarse.
    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval>;

    /// Reads the candle in a line. `None` if the text is not a candle.
    fn read(slot: Slot, text: &Self::Text) -> Option<Self>;

    /// Whether the product had any price. Candles without a price are not stored.
    fn has_price(&self) -> bool {
        true
    }

    /// Returns the candle in the format of a line.
    fn written(&self, slot: Slot) -> Value;

    /// Returns the sales of a slot for its line; empty if the lines of its interval have no sales.
    async fn read_sales(_: Session<'_>, _: Slot) -> Result<StoredSales, tables::Error> {
        Ok(StoredSales::default())
    }

    /// Parses the sales in the line of a slot with these candles. The error is the reason for operators.
    fn parse_sales(_: Slot, _: SalesLine, _: &Candles<Self>) -> Result<HourSales, String> {
        Err("only lines of hours of auctions have sales".to_owned())
    }

    /// Stores the sales of a slot unless the table has sales of more time. Returns the number of changed
    /// rows, and the stored sales.
    async fn store_sales(
        _: Session<'_>,
        _: Slot,
        _: &HourSales,
    ) -> Result<(usize, HourSales), tables::Error> {
        Ok(Default::default())
    }

    /// Makes the candles of a slot agree with its stored sales.
    fn follow_sales(_: &mut Candles<Self>, _: &HourSales) {}

    /// Records the minute, if this series has minutes. Returns whether the minute is new.
    async fn record_minute(_: Session<'_>, _: Slot, _: &Candles<Self>) -> Result<bool, Error> {
        Ok(false)
    }
}

/// A line of the bazaar or of auctions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<T> {
    interval: String,
    opened_at: UnixSeconds,
    #[serde(alias = "items")]
    products: Option<Members<String, T>>,
    sales: Option<SalesLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SalesLine {
    /// The number of minutes of the slot whose sales are known.
    pub(super) minutes: u64,
    /// The text of each item's sales.
    pub(super) items: BTreeMap<AuctionItemId, String>,
}

/// The candles of a slot, and its sales, which are empty in most intervals. Candles of a minute have one
/// sample.
pub(super) struct Slice<C: SeriesCandle> {
    slot: Slot,
    candles: Candles<C>,
    sales: HourSales,
}

impl<C: LineCandle> Slice<C> {
    fn parse(line: &str, now: UnixSeconds) -> Result<Self, BadLine> {
        let Line::<C::Text> { interval: name, opened_at, products: members, sales } = parse(line)?;
        let interval = C::intervals().find(|interval| interval.name == name).ok_or_else(|| {
            let names: Vec<_> = C::intervals().map(|interval| interval.name).collect();
            BadLine::new(format!("interval: it must be one of {}, not {name}", names.join(", ")))
        })?;
        let slot = started(interval.at(opened_at), opened_at, now)?;
        let products = members.map(|Members(products)| products).unwrap_or_default();
        if products.len() > MAX_PRODUCTS {
            let reason = format!("{}: at most {MAX_PRODUCTS}, not {}", C::FIELD, products.len());
            return Err(BadLine::new(reason));
        }
        let mut candles = Candles::<C>::new();
        for (id, text) in products {
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
        let sales = sales.map(|sales| C::parse_sales(slot, sales, &candles)).transpose();
        let sales = sales.map_err(|flaw| BadLine::new(format!("sales: {flaw}")))?.unwrap_or_default();
        Ok(Self { slot, candles, sales })
    }
}

fn is_minute(slot: Slot) -> bool {
    slot.interval.length == Duration::from_mins(1)
}

/// Checks that a slot starts at this time and has ended, and that its minute is not being recorded. For
/// minutes, seconds are ignored.
fn started(slot: Slot, opened_at: UnixSeconds, now: UnixSeconds) -> Result<Slot, BadLine> {
    if is_minute(slot) {
        past("opened_at", opened_at, now)?;
        if slot.end().plus(RECORDING_TIME) <= now {
            return Ok(slot);
        }
        return Err(BadLine::new(format!(
            "opened_at: the minute {} must have ended ten minutes ago, so that its recorder comes first; the clock of this machine shows \
             {now}",
            slot.start
        )));
    }
    if slot.start == opened_at && slot.end() <= now {
        return Ok(slot);
    }
    Err(BadLine::new(format!(
        "opened_at: {opened_at} is not the start of an interval of {} that has ended; the clock of this machine shows {now}",
        slot.interval.name
    )))
}

impl<C: LineCandle> Serialize for Slice<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { slot, candles, sales } = self;
        let texts = candles.iter().map(|(id, candle)| (id.as_ref(), candle.written(*slot)));
        let mut line = serializer.serialize_struct("Slice", 4)?;
        line.serialize_field("interval", slot.interval.name)?;
        line.serialize_field("opened_at", &slot.start)?;
        line.serialize_field(C::FIELD, &texts.collect::<BTreeMap<_, _>>())?;
        if !sales.items.is_empty() {
            let minutes = sales.known.as_secs() / 60;
            line.serialize_field("sales", &SalesLine { minutes, items: sales.texts(slot.start) })?;
        }
        line.end()
    }
}

/// The prices of a series in the table.
pub(super) struct Slices<C: SeriesCandle> {
    table: Table,
    tally: Tally,
    gathered: Option<Gathered<C>>,
}

/// Minutes that are gathered into the candles of a slot.
struct Gathered<C: SeriesCandle> {
    slot: Slot,
    minutes: BTreeMap<UnixSeconds, Candles<C>>,
    /// How many lines of minutes that are too old for the table are not counted yet. If the gathered candles
    /// are new, these lines count as imported, otherwise as already there.
    waiting: u64,
}

/// Returns the slot whose candles gather the minute, in the finest interval that still keeps candles of that
/// day. All minutes of a day get the same interval, because `record-candles` builds coarser candles from one
/// interval only.
fn slot_of(minute: UnixSeconds, intervals: &'static [Interval]) -> Option<Slot> {
    let day = intervals.last()?;
    let since = day.slot(minute).minus(BUILDING_TIME);
    Some(intervals.iter().find(|interval| interval.keeps(since, now())).unwrap_or(day).at(minute))
}

impl<C: LineCandle> Slices<C> {
    pub(super) fn of(table: Table) -> Self {
        Self { table, tally: Tally::default(), gathered: None }
    }

    const fn session(&self) -> Session<'_> {
        self.table.with_timeout(OPERATION_TIMEOUT)
    }

    /// Stores the candles of `lines` lines, counts the lines, and notes that coarser candles must be built
    /// from these candles.
    async fn store_candles(
        &mut self,
        slot: Slot,
        mut candles: Candles<C>,
        sales: &HourSales,
        lines: u64,
    ) -> Result<(), Error> {
        let mut changed = 0;
        if !sales.items.is_empty() {
            let store = async || C::store_sales(self.session(), slot, sales).await;
            let (rows, stored) = patiently(store).await?;
            C::follow_sales(&mut candles, &stored);
            changed += rows;
        }
        changed += patiently(async || series::store(self.session(), slot, &candles).await).await?;
        // Also if nothing changed: an earlier import may have been killed before this step.
        patiently(async || series::build_again(self.session(), C::SERIES, slot.start).await).await?;
        self.tally.count(lines, changed > 0);
        Ok(())
    }

    /// Gathers the minute, and records it if the table still keeps it (`is_kept`). A recorded minute wins
    /// over a line, and the first line of a minute over later lines.
    async fn store_minute(
        &mut self,
        minute: Slot,
        mut candles: Candles<C>,
        is_kept: bool,
    ) -> Result<(), Error> {
        if is_kept {
            let is_new = C::record_minute(self.session(), minute, &candles).await?;
            self.tally.count(1, is_new);
            if !is_new {
                let read = patiently(async || series::recorded_candles(self.session(), minute).await);
                let recorded = read.await?;
                candles = recorded.map(|recorded| recorded.candles).unwrap_or_default();
            }
        }
        let Some(slot) = slot_of(minute.start, C::SERIES.intervals) else { return Ok(()) };
        if self.gathered.as_ref().is_some_and(|gathered| gathered.slot != slot) {
            self.finish().await?;
        }
        let new = || Gathered { slot, minutes: BTreeMap::new(), waiting: 0 };
        let gathered = self.gathered.get_or_insert_with(new);
        gathered.minutes.entry(minute.start).or_insert(candles);
        gathered.waiting += u64::from(!is_kept);
        Ok(())
    }
}

impl<C: LineCandle> Kind for Slices<C> {
    type Record = Slice<C>;

    fn parse(line: &str, now: UnixSeconds) -> Result<Slice<C>, BadLine> {
        Slice::parse(line, now)
    }

    async fn store(&mut self, Slice { slot, candles, sales }: Slice<C>) -> Result<Option<String>, Error> {
        match (slot.interval.keeps(slot.start, now()), is_minute(slot)) {
            (is_kept, true) => self.store_minute(slot, candles, is_kept).await?,
            (true, false) => self.store_candles(slot, candles, &sales, 1).await?,
            (false, false) => self.tally.left_out += 1,
        }
        Ok(None)
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
        // `record-candles` builds the current slot when all minutes of the slot are recorded.
        if slot.end() > now() || joined.is_empty() {
            return Ok(());
        }
        self.store_candles(slot, joined, &HourSales::default(), waiting).await
    }

    fn summary(&self) -> String {
        format!("{}, ", self.tally.text("too old"))
    }

    /// Exports slots from coarse to fine. If fine slots came first, `record-candles` could run during an
    /// import and build coarse candles from only some of the finer ones. A slot with missing rows is skipped:
    /// it was changed by hand, or it has expired.
    async fn export(&mut self, writer: &mut Writer) -> Result<(), Error> {
        let mut slots = Vec::new();
        for interval in C::intervals().rev() {
            slots.extend(series::recorded(self.session(), interval, now()).await?);
        }
        let read = async |slot| (slot, series::recorded_candles::<C>(self.session(), slot).await);
        let mut slices = stream::iter(slots).map(read).buffered(READ_AHEAD).boxed_local();
        while let Some((slot, recorded)) = slices.next().await {
            let Some(Recorded { candles, corrupt }) = recorded? else {
                console::print(format_args!("{slot} is incomplete in the table and is skipped"));
                writer.skip(slot.interval.keeps(slot.start, now()).into());
                continue;
            };
            writer.skip(corrupt as u64);
            if !candles.is_empty() {
                let StoredSales { sales, corrupt } = C::read_sales(self.session(), slot).await?;
                writer.skip(corrupt as u64);
                writer.write(Some(Slice { slot, candles, sales })).await?;
            }
        }
        Ok(())
    }
}
