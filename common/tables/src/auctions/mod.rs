//! Prices of auctions over time. Every minute, `record-auctions` writes the lowest buy-it-now prices of all items together with the
//! list of ended auctions of the same run. A minute is one compressed text, in as many rows as its size needs:
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#1m#000` | `SLOT#HASH#PART`: the minute, the rank of what the run has found, the position of the row | `content` |
//! | `auctions#1m` | the minute: the marker, written last | `hash`, `rows`, `last_updated`, `sales_since`, `sales_until` |
//! | `auctions#lowest` | `0` or `1`, the parity of the minute | `slot`, `hash`, `auctions`: the auction of each lowest price |
//!
//! Of two runs for the same minute, the one with the higher rank wins, whatever their order: rows of different runs are never mixed.
//! What a killed or beaten run leaves expires. A row of auctions is overwritten two minutes later, so a reader that has found the newest
//! marker finds the row that fits it. A run that is late replaces no row of a later minute.
//!
//! Every minute stores the whole list of ended auctions. Lists overlap, so sales are counted when they are read ([`sales`]).

mod averages;
pub(crate) mod candle;
mod coins;
mod fields;
mod hour;
pub(crate) mod intervals;
mod minute;
mod packed;
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
pub use self::select::{Selected, select};
pub use self::series::{Candles, SERIES};
pub use self::sold::{HourSold, SoldItem, SoldPage, sold_before, sold_of_text};
