//! The series of auction candles: its intervals, and the form of a candle in a row.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use common::request::auction_item_id::AuctionItemId;
use serde::Serialize;

use super::candle::{Candle, Listed, Sold, together};
use super::fields::ItemCandle;
use super::hour::{self, HourTexts};
use super::intervals::{HOURS, INTERVALS};
use super::minute::read::{SALES_KEPT, recorded_minutes};
use super::minute::stored::ONE_MINUTE;
use crate::error::Error;
use crate::item::string;
use crate::row::Value;
use crate::series;
use crate::series::keys::Slot;
use crate::series::{Series, SeriesCandle};
use crate::session::Session;

/// The series of candles.
pub const SERIES: Series = Series {
    name: "auctions",
    minutes: &ONE_MINUTE,
    finest: &HOURS,
    intervals: &INTERVALS,
    parts: &[&HOURS],
    settle: Duration::from_mins(5),
    // A list of ended auctions is recorded at most this much after its sales, unless earlier runs failed.
    reach: Duration::from_mins(3),
};

/// The candles of all items in a slot.
pub type Candles = series::Candles<Candle>;

impl SeriesCandle for Candle {
    type Id = AuctionItemId;

    type Texts = HourTexts;

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

    fn attribute(&self, _: Slot) -> AttributeValue {
        string(self.to_text())
    }

    fn row<'a>(&'a self, id: &'a AuctionItemId) -> impl Serialize + use<'a> {
        ItemCandle { id: id.as_str(), fields: self.into() }
    }

    fn of_value(_: Slot, value: &Value<'_>) -> Option<Self> {
        Self::of_text(value.text()?)
    }

    async fn of_minutes(table: Session<'_>, hour: Slot) -> Result<(Candles, HourTexts), Error> {
        let minutes = recorded_minutes(table, hour.start, hour.end().plus(SALES_KEPT)).await?;
        Ok(hour::of_minutes(&minutes, hour.start, hour.end()))
    }

    async fn write_texts(table: Session<'_>, hour: Slot, texts: HourTexts) -> Result<(), Error> {
        texts.write(table, hour).await
    }
}
