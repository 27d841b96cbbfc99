//! The series of auction candles: its intervals, and the form of a candle in a row.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use common::time::UnixSeconds;
use serde::Serialize;

use super::candle::{Candle, Listed, Sold, together};
use super::fields::ItemCandle;
use super::hour::{self, Candles};
use super::intervals::{HOURS, INTERVALS};
use super::list::listed_minutes;
use super::minute::stored::ONE_MINUTE;
use crate::error::Error;
use crate::item::string;
use crate::row::Value;
use crate::series::keys::Slot;
use crate::series::{Found, Series, SeriesCandle};
use crate::session::Session;

pub const SERIES: Series = Series {
    name: "auctions",
    minutes: &ONE_MINUTE,
    finest: &HOURS,
    intervals: &INTERVALS,
    parts: &[&HOURS],
    settle: Duration::from_mins(5),
    // A list of ended auctions is read at most this much after its sales.
    reach: Duration::from_mins(3),
};

impl SeriesCandle for Candle {
    type Id = AuctionItemId;

    const SERIES: &'static Series = &SERIES;

    fn samples(&self) -> u32 {
        self.listed.map_or(0, |listed| listed.samples)
    }

    fn followed_by(self, later: Self) -> Self {
        Self {
            listed: together(self.listed, later.listed, Listed::followed_by),
            sold: together(self.sold, later.sold, Sold::followed_by),
        }
    }

    /// Prices with more minutes stay, and more sales: known time and the number of sales grow together.
    fn merged_over(self, stored: Self) -> Self {
        let samples = self.samples();
        let sales = self.sold.as_ref().map_or(0, |sold| sold.sales);
        let stored_listed = stored.listed.filter(|listed| samples < listed.samples);
        let stored_sold = stored.sold.filter(|sold| sales < sold.sales);
        Self { listed: stored_listed.or(self.listed), sold: stored_sold.or(self.sold) }
    }

    fn attribute(&self, _: Slot) -> AttributeValue {
        string(self.to_text())
    }

    fn row<'a>(&'a self, id: &'a AuctionItemId) -> impl Serialize + use<'a> {
        ItemCandle { id: id.as_str(), fields: self.into() }
    }

    fn of_value(_: Slot, value: &Value<'_>) -> Option<Self> {
        Self::of_text(value.text()?)
    }

    /// Finds recorded minutes, and minutes with sales in lists of ended auctions. Either can be without the
    /// other.
    async fn minutes_between(
        table: Session<'_>,
        first: UnixSeconds,
        end: UnixSeconds,
        limit: usize,
    ) -> Result<Found, Error> {
        let recorded = Found::recorded(table, &ONE_MINUTE, first, end, limit).await?;
        let listed = listed_minutes(table, first, end, limit).await?;
        Ok(recorded.and(listed))
    }

    async fn build(table: Session<'_>, hour: Slot) -> Result<Candles, Error> {
        hour::build(table, hour).await
    }
}
