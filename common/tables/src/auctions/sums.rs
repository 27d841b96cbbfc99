//! The sums of closing prices, from which average lowest prices are computed.
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#sums` | the hour | `content`: for each item, the sum of its closing prices in the day's hours up to and including this hour, and the number of these prices; `minutes`: the number of recorded minutes in these hours |
//!
//! Sums of fewer minutes never replace sums of more.

use std::collections::BTreeMap;

use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use super::candle::{Candle, divided};
use super::hour_text::{DAY, HOUR_TEXT, by_id, put};
use super::packed::{Ids, content};
use crate::error::Error;
use crate::item::{integer, readable};
use crate::series::keys::{Slot, slot_key};
use crate::session::{Reads, Session};
use common::coins::Coins;

const SUMS: &str = "auctions#sums";

/// The attribute with the number of recorded minutes.
pub(super) const MINUTES: &str = "minutes";

#[derive(Serialize, Deserialize)]
struct SumsText {
    ids: Ids,
    sums: Vec<u64>,
    hours: Vec<u32>,
}

/// The closing prices of an item in several hours, added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CloseSum {
    /// The sum of the prices, in hundredths of a coin.
    sum: u64,
    /// The number of hours that have a closing price.
    pub(super) hours: u32,
}

impl CloseSum {
    pub(super) fn add(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.hours += other.hours;
    }

    pub(super) fn subtract(&mut self, other: Self) {
        self.sum = self.sum.saturating_sub(other.sum);
        self.hours = self.hours.saturating_sub(other.hours);
    }

    pub(super) const fn average(self) -> Coins {
        Coins::of_hundredths(divided(self.sum, self.hours as u64))
    }
}

/// The sums of closing prices in some hours of a day.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) items: BTreeMap<AuctionItemId, CloseSum>,
    /// The number of recorded minutes in these hours.
    minutes: i64,
}

impl Sums {
    /// Reads the sums of the hours from the beginning of `day` to before `end`.
    pub(super) async fn read(
        table: Session<'_>,
        day: UnixSeconds,
        end: UnixSeconds,
        reads: Reads,
    ) -> Result<Self, Error> {
        // DynamoDB refuses a range of keys that ends before it begins.
        if day >= end {
            return Ok(Self::default());
        }
        let last = UnixSeconds::new(end.get() - 1);
        // The newest row has the sums of all hours. If it is corrupt, the newest readable row lacks only the
        // latest hours.
        for limit in [1, usize::MAX] {
            let query = table.query_between(SUMS, slot_key(day), slot_key(last));
            let query = query.consistent_read(matches!(reads, Reads::Consistent));
            let rows = table.rows(query.scan_index_forward(false), limit).await?;
            let sums = readable(&rows, SUMS, |row| {
                let SumsText { ids, sums, hours } = content(row, HOUR_TEXT)?;
                let closes = sums.into_iter().zip(hours).map(|(sum, hours)| CloseSum { sum, hours });
                Ok(Some(Self { items: by_id(&ids, closes)?, minutes: integer(row, MINUTES)? }))
            });
            if let Some(sums) = sums.into_iter().next() {
                return Ok(sums);
            } else if rows.is_empty() {
                break;
            }
        }
        Ok(Self::default())
    }

    /// Reads the sums of the day's hours before `hour`.
    pub(super) async fn before(table: Session<'_>, hour: Slot) -> Result<Self, Error> {
        Self::read(table, hour.start.rounded_down(DAY), hour.start, Reads::Consistent).await
    }

    /// Returns these sums and the closing prices of the next hour, which has `minutes` recorded minutes.
    pub(super) fn followed_by(mut self, candles: &BTreeMap<AuctionItemId, Candle>, minutes: i64) -> Self {
        for (id, listed) in candles.iter().filter_map(|(id, candle)| Some((id, candle.listed?))) {
            let close = CloseSum { sum: listed.close.hundredths(), hours: 1 };
            self.items.entry(id.clone()).or_default().add(close);
        }
        self.minutes += minutes;
        self
    }

    /// Writes the sums of the hours up to and including `hour`.
    pub(super) async fn write(&self, table: Session<'_>, hour: Slot) -> Result<(), Error> {
        let ids = Ids::of(self.items.keys());
        let (sums, hours) = self.items.values().map(|close| (close.sum, close.hours)).unzip();
        put(table, SUMS, hour, &SumsText { ids, sums, hours }, (MINUTES, self.minutes)).await
    }
}
