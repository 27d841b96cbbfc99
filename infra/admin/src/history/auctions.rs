//! Candles of auctions, one line per hour or day. `record-candles` builds days of imported hours.

use std::collections::BTreeMap;

use common::request::auction_item_id::AuctionItemId;
use common::request::parameters::InvalidValue;
use common::response::excerpt::Excerpt;
use common::time::UnixSeconds;
use common::upstream::json::Members;
use futures_util::{StreamExt, stream};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use tables::auctions::{Candle, Candles, INTERVALS, SERIES};
use tables::series::{self, Candle as _, Slot};
use tables::{Error, Session, Table};

use super::kind::{Kind, OPERATION_TIMEOUT, Rows, Tally, now, patiently, stored};
use super::line::{self, BadLine, MAX_CAUSE, ended};

/// How many slots an export reads ahead.
const READ_AHEAD: usize = 4;

/// What a candle must be.
const ALLOWED: &str = "it must be the close, the listings and the minutes of the lowest price, unless all are the same also the sum, open, high \
                       and low; and after a semicolon the items and the sum of the sales, of several also their number, median, low and high";

/// The table's candles of auctions.
pub(super) struct Auctions(pub(super) Table);

/// The candles of an hour or a day.
#[derive(Debug, PartialEq)]
pub(super) struct Slice {
    pub(super) slot: Slot,
    pub(super) candles: Candles,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    interval: String,
    opened_at: UnixSeconds,
    items: Members<String, String>,
}

impl Serialize for Slice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items: BTreeMap<_, _> =
            self.candles.iter().map(|(id, candle)| (id.as_str(), candle.text())).collect();
        let mut line = serializer.serialize_struct("Slice", 3)?;
        line.serialize_field("interval", self.slot.interval.name)?;
        line.serialize_field("opened_at", &self.slot.start)?;
        line.serialize_field("items", &items)?;
        line.end()
    }
}

impl Auctions {
    fn session(&self) -> Session<'_> {
        self.0.with_timeout(OPERATION_TIMEOUT)
    }
}

impl Kind for Auctions {
    type Row = Slice;

    fn parse(line: &str, now: UnixSeconds) -> Result<Slice, BadLine> {
        let Line { interval, opened_at, items } = line::parse(line)?;
        let interval = INTERVALS.iter().find(|known| known.name == interval).ok_or_else(|| {
            BadLine::new(format!(
                "interval: {} is not an interval; it must be 1h or 1d",
                Excerpt::of(&interval)
            ))
        })?;
        let slot = ended(interval.at(opened_at), opened_at, now)?;
        let minutes = interval.length.as_secs() / 60;
        let mut candles = Candles::new();
        for (id, text) in items.0 {
            let bad = |reason: String| BadLine::new(format!("items: {}: {reason}", Excerpt::of(&id)));
            let item_id: AuctionItemId = id
                .parse()
                .map_err(|InvalidValue { allowed }| bad(format!("an item id must be {allowed}")))?;
            // Of two candles the one with more minutes stays, so a wrong number would stay for ever.
            let candle = Candle::of_text(&text).filter(|candle| u64::from(candle.samples()) <= minutes);
            let candle =
                candle.ok_or_else(|| bad(format!("{}: {ALLOWED}", Excerpt::up_to(MAX_CAUSE, &text))))?;
            if candles.insert(item_id, candle).is_some() {
                return Err(bad("it appears twice".to_owned()));
            }
        }
        if candles.is_empty() {
            return Err(BadLine::new("items: at least one must have a candle"));
        }
        Ok(Slice { slot, candles })
    }

    async fn store(&mut self, Slice { slot, candles }: Slice, tally: &mut Tally) -> Result<(), Error> {
        if !slot.interval.keeps(slot.start, now()) {
            tally.too_old += 1;
            return Ok(());
        }
        let rows = patiently(async || series::store(self.session(), slot, &candles).await).await?;
        // Even if nothing changed: an earlier import may have been killed before it noted that.
        patiently(async || series::build_again(self.session(), &SERIES, slot.start).await).await?;
        tally.count(1, rows > 0);
        Ok(())
    }

    async fn finish(&mut self, _: &mut Tally) -> Result<(), Error> {
        Ok(())
    }

    async fn rows(&self) -> Result<Rows<'_, Slice>, Error> {
        let mut slots = Vec::new();
        // From coarse to fine: `record-candles` may run during an import, and would build days of a part of the hours.
        for interval in INTERVALS.iter().rev() {
            slots.extend(series::recorded(self.session(), interval, now()).await?);
        }
        let total = u64::try_from(slots.len()).ok();
        let slice = |slot| stored(self.session(), slot, move |candles| Slice { slot, candles });
        Ok((total, stream::iter(slots).map(slice).buffered(READ_AHEAD).boxed_local()))
    }
}
