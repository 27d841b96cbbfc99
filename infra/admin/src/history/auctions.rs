//! Candles of auctions, one line per hour or day. `record-candles` builds the days from imported hours.

use common::request::auction_item_id::AuctionItemId;
use serde_json::Value;
use tables::Session;
use tables::auctions::{Candle, Coins, HourSold, INTERVALS, Listed, Sold, sold_of_text};
use tables::series::{Interval, Slot};

use super::slice::LineCandle;

impl LineCandle for Candle {
    const FIELD: &'static str = "items";
    const ALLOWED: &'static str = "a candle must be the close, the listings and the minutes of the lowest price, then sum, open, high \
                                   and low unless all lowest prices are the same; after a semicolon the number of sold items and the \
                                   sum of their prices, then for several sales their number, median, low and high; lowest prices must \
                                   be above 0, and each average from low to high";
    type Text = String;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        INTERVALS.iter()
    }

    fn read(slot: Slot, text: &String) -> Option<Self> {
        // Of two candles of a slot, the table keeps the one with more minutes. A candle with too many minutes would stay permanently.
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

    async fn read_sales(session: Session<'_>, slot: Slot) -> Result<Option<HourSold>, tables::Error> {
        if !is_hour(slot) {
            return Ok(None);
        }
        let sales = HourSold::read(session, slot.start).await?;
        Ok(Some(sales).filter(|sales| !sales.items.is_empty()))
    }

    fn flaw_of_sales(slot: Slot, sales: &HourSold) -> Option<String> {
        if !is_hour(slot) {
            return Some("only hours have sales".to_owned());
        }
        if !(0..=60).contains(&sales.minutes) {
            return Some(format!("minutes: it must be 0 to 60, not {}", sales.minutes));
        }
        let is_invalid = |(_, text): &(&AuctionItemId, &String)| sold_of_text(slot.start, text).is_none();
        let (id, _) = sales.items.iter().find(is_invalid)?;
        Some(format!(
            "items: {}: it must be sales, separated by semicolons, each with the milliseconds since the hour began, the price of the \
             stack, a digit from 0 to 3, and the number of items unless it is 1",
            id.as_str()
        ))
    }
}

fn is_hour(slot: Slot) -> bool {
    let [hour, ..] = &INTERVALS;
    slot.interval == hour
}
