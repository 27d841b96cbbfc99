//! Candles of auctions, one line per hour or day. `record-candles` builds the days from imported hours.

use std::time::Duration;

use common::upstream::auctions::STACK_PRICES;
use serde_json::Value;
use tables::Session;
use tables::auctions::{Candle, Candles, Coins, HourSales, INTERVALS, Listed, Sale, Sold, StoredSales};
use tables::series::{Interval, Slot};

use super::slice::{LineCandle, SalesLine};

impl LineCandle for Candle {
    const FIELD: &'static str = "items";
    const ALLOWED: &'static str = "a candle must be the close, the listings and the minutes of the lowest price, then sum, open, high \
                                   and low unless all lowest prices are the same; after a semicolon the number of sold items and the \
                                   sum of their prices, then for several sales their number, median, low and high; prices must be \
                                   above 0 and at most 1,000,000,000,000, and each average from low to high";
    type Text = String;

    fn intervals() -> impl DoubleEndedIterator<Item = &'static Interval> {
        INTERVALS.iter()
    }

    fn read(slot: Slot, text: &String) -> Option<Self> {
        // Of two candles of a slot, the table keeps the one with more minutes. A candle with too many minutes
        // would stay permanently.
        let minutes = slot.interval.length.as_secs() / 60;
        let is_listed = |listed: Listed| {
            are_prices(listed.low, listed.average(), listed.high) && u64::from(listed.samples) <= minutes
        };
        let is_sold = |sold: &Sold| are_prices(sold.low, sold.average(), sold.high);
        Self::of_text(text)
            .filter(|candle| candle.listed.is_none_or(is_listed) && candle.sold.as_ref().is_none_or(is_sold))
    }

    fn written(&self, _: Slot) -> Value {
        self.to_text().into()
    }

    async fn read_sales(session: Session<'_>, slot: Slot) -> Result<StoredSales, tables::Error> {
        if is_hour(slot) { HourSales::read(session, slot.start).await } else { Ok(StoredSales::default()) }
    }

    fn parse_sales(slot: Slot, line: SalesLine, candles: &Candles) -> Result<HourSales, String> {
        let SalesLine { minutes, items } = line;
        if !is_hour(slot) {
            return Err("only hours have sales".to_owned());
        }
        if minutes > 60 {
            return Err(format!("minutes: it must be 0 to 60, not {minutes}"));
        }
        let known = Duration::from_mins(minutes);
        let sales = HourSales::of_texts(slot.start, known, items).map_err(|id| {
            format!(
                "items: {}: it must be sales, separated by semicolons, each with the milliseconds since the hour began, the price of the \
                 stack from {} to {}, a digit from 0 to 3, the number of items unless it is 1, and the level of a pet from 1 to 200",
                id.as_str(),
                STACK_PRICES.start(),
                STACK_PRICES.end(),
            )
        })?;
        for (id, sales) in &sales.items {
            let sold = candles.get(id).and_then(|candle| candle.sold.as_ref());
            if let Some(flaw) = contradiction(sales, sold) {
                return Err(format!("items: {}: {flaw}", id.as_str()));
            }
        }
        if !sales.fit_into_rows(slot.start) {
            return Err(
                "items: there are too many sales for a row of the table, which has at most 400,000 bytes"
                    .to_owned(),
            );
        }
        Ok(sales)
    }

    async fn store_sales(
        session: Session<'_>,
        slot: Slot,
        sales: &HourSales,
    ) -> Result<(usize, HourSales), tables::Error> {
        sales.import(session, slot.start).await
    }

    fn follow_sales(candles: &mut Candles, stored: &HourSales) {
        for (id, candle) in candles {
            if let Some(sales) = stored.items.get(id) {
                candle.sold = Sold::of(sales).map(|sold| sold.condensed());
            }
        }
    }
}

/// Returns how the sales of an item contradict its candle, if they do.
fn contradiction(sales: &[Sale], candle: Option<&Sold>) -> Option<String> {
    let of_sales = Sold::of(sales)?;
    let Some(candle) = candle else { return Some("its candle has no sales".to_owned()) };
    let pairs = [
        ("the number of sales", u64::from(of_sales.sales), u64::from(candle.sales)),
        ("the number of items", of_sales.sold, candle.sold),
        ("the sum of prices", of_sales.sum, candle.sum),
        ("the lowest price", of_sales.low.hundredths(), candle.low.hundredths()),
        ("the highest price", of_sales.high.hundredths(), candle.high.hundredths()),
    ];
    let (name, of_sales, of_candle) = pairs.into_iter().find(|(_, sales, candle)| sales != candle)?;
    Some(format!("{name} is {of_sales}, but {of_candle} in its candle"))
}

/// Whether the lowest, the average and the highest price of an item are possible.
fn are_prices(low: Coins, average: Coins, high: Coins) -> bool {
    let highest = Coins::of_hundredths(STACK_PRICES.end() * 100);
    Coins::of_hundredths(0) < low && low <= average && average <= high && high <= highest
}

fn is_hour(slot: Slot) -> bool {
    let [hour, ..] = &INTERVALS;
    slot.interval == hour
}
