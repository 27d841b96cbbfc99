//! Auction prices over time. Every minute, `record-auctions` writes the lowest buy-it-now price of each item together with the list of
//! ended auctions. The data of a minute is one compressed text, split into as many rows as its size requires:
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#1m#000` | `SLOT#HASH#PART`: the minute, the rank of the run's result, and the position of the row | `content` |
//! | `auctions#1m` | the minute; this row is the marker, which is written last | `hash`, `rows`, `last_updated`, `sales_since`, `sales_until` |
//! | `auctions#lowest` | `0` or `1`, the parity of the minute | `slot`, `hash`, `auctions`: the auction of each lowest price |
//!
//! If two runs record the same minute, the run with the higher rank wins, whatever their order. Rows of different runs are never mixed. The
//! rows of a run that was killed, or that did not win, expire. A row of `auctions#lowest` is overwritten two minutes later, so a reader of
//! the newest marker finds the row of the same minute. A late run never replaces a row of a later minute.
//!
//! Each minute stores the whole list of ended auctions. The lists of successive minutes overlap, so readers must count each sale once
//! ([`sales`]).

mod averages;
pub(crate) mod candle;
mod coins;
mod fields;
mod hour;
pub(crate) mod intervals;
mod minute;
mod packed;
mod pet_level;
mod select;
pub(crate) mod series;
mod sold;

pub use self::averages::{Average, AverageSales, Averages, WINDOWS, Window, averages_of, build_averages};
pub use self::candle::{Candle, Listed, Sold};
pub use self::coins::Coins;
pub use self::fields::{CandleFields, ItemCandle};
pub use self::hour::{HourTexts, HourTime};
pub use self::intervals::INTERVALS;
pub use self::minute::read::{
    LONGEST_AGE, RecordedMinute, SALES_KEPT, covered, lowest_auctions, newest, recorded_minutes, sales,
};
pub use self::minute::stored::{ONE_MINUTE, record};
pub use self::minute::{Minute, Price, Prices, Sale, Sales};
pub use self::pet_level::PetLevel;
pub use self::select::{Selected, select};
pub use self::series::{Candles, SERIES};
pub use self::sold::{HourSold, SoldItem, SoldPage, sold_before, sold_of_text};
