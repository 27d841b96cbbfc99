//! Candles of auctions, one line per hour or day. `record-candles` builds days of imported hours.

use common::time::UnixSeconds;
use common::upstream::json::Members;
use serde::{Deserialize, Serialize};
use tables::auctions::{Candle, INTERVALS};
use tables::series::{Candle as _, Interval, Slot};

use super::slice::{Fields, LineCandle};
use crate::transfer::line::{BadLine, parse};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    interval: String,
    opened_at: UnixSeconds,
    items: Members<String, String>,
}

impl LineCandle for Candle {
    const FIELD: &'static str = "items";
    const ALLOWED: &'static str = "a candle must be the close, the listings and the minutes of the lowest price, unless all are the \
                                   same also the sum, open, high and low; and after a semicolon the items and the sum of the sales, \
                                   of several also their number, median, low and high";
    type Text = String;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        INTERVALS.iter()
    }

    fn fields(line: &str) -> Result<Fields<String>, BadLine> {
        let Line { interval, opened_at, items } = parse(line)?;
        Ok(Fields { interval, opened_at, texts: items.0 })
    }

    fn read(slot: Slot, text: &String) -> Option<Self> {
        // Of two candles the one with more minutes stays, so a wrong number would stay permanently.
        let minutes = slot.interval.length.as_secs() / 60;
        Self::of_text(text).filter(|candle| u64::from(candle.samples()) <= minutes)
    }

    fn has_price(&self) -> bool {
        true
    }

    fn written(&self, _: Slot) -> impl Serialize {
        self.text()
    }
}
