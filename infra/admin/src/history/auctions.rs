//! Candles of auctions, one line per hour or day. `record-candles` builds days of imported hours.

use serde_json::Value;
use tables::auctions::{Candle, Coins, INTERVALS, Listed, Sold};
use tables::series::{Interval, Slot};

use super::slice::LineCandle;

impl LineCandle for Candle {
    const FIELD: &'static str = "items";
    const ALLOWED: &'static str = "a candle must be the close, the listings and the minutes of the lowest price, unless all are the \
                                   same also the sum, open, high and low; and after a semicolon the items and the sum of the sales, \
                                   of several also their number, median, low and high; lowest prices must be above 0, and no average \
                                   above high or below low";
    type Text = String;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        INTERVALS.iter()
    }

    fn read(slot: Slot, text: &String) -> Option<Self> {
        // Of two candles the one with more minutes stays, so a wrong number would stay permanently.
        let minutes = slot.interval.length.as_secs() / 60;
        let is_listed = |listed: Listed| {
            let average = listed.average();
            let is_inside = listed.low <= average && average <= listed.high;
            is_inside && listed.low > Coins::of_hundredths(0) && u64::from(listed.samples) <= minutes
        };
        let is_sold = |sold: &Sold| sold.low <= sold.average() && sold.average() <= sold.high;
        Self::of_text(text)
            .filter(|candle| candle.listed.is_none_or(is_listed) && candle.sold.as_ref().is_none_or(is_sold))
    }

    fn written(&self, _: Slot) -> Value {
        self.to_text().into()
    }
}
