//! Auction prices over time. Every minute, `record-auctions` writes the list of ended auctions as soon as it
//! has read it (`list.rs`), and then the lowest buy-it-now price of each item. The prices of a minute are one
//! compressed text, split into as many rows as its size requires:
//!
//! | `pk` | `sk` | attributes |
//! |---|---|---|
//! | `auctions#1m#000` | `SLOT#RANK#PART`: the minute, the rank of the run's result, and the position of the row | `content` |
//! | `auctions#1m` | the minute; this row is the marker, which is written last | `rank`, `rows`, `last_updated` |
//! | `auctions#lowest` | `0` or `1`, the parity of the minute | `slot`, `rank`, `auctions`: the auction of each lowest price |
//!
//! If two runs record the same minute, the run with the higher rank wins, whatever their order. Rows of
//! different runs are never mixed. The rows of a run that was killed, or that did not win, expire. A row of
//! `auctions#lowest` is overwritten two minutes later, so a reader of the newest marker finds the row of the
//! same minute. A late run never replaces a row of a later minute.
//!
//! A sale has one form ([`Sale`]) and one text, from the list over the hour (`hour_sales.rs`, `hour.rs`) to
//! the routes.

mod averages;
pub(crate) mod candle;
mod fields;
mod hour;
mod hour_sales;
mod hour_text;
pub(crate) mod intervals;
mod list;
mod minute;
pub(crate) mod packed;
mod sale;
mod select;
pub(crate) mod series;
mod sums;

pub use self::averages::{Average, Averages, WINDOWS, Window, averages_of, build_averages};
pub use self::candle::{Candle, Listed, Sold};
pub use self::fields::{CandleFields, ItemCandle};
pub use self::hour::{Candles, write_texts};
pub use self::hour_sales::{HourSales, SalesPage, StoredSales, sales_before};
pub use self::intervals::INTERVALS;
pub use self::list::{List, SUCCESSIVE, SoldAuction, known, lists, sold_between};
pub use self::minute::read::{RecordedMinute, lowest_auctions, newest, recorded_minutes};
pub use self::minute::stored::{ONE_MINUTE, record};
pub use self::minute::{Minute, Price, Prices};
pub use self::sale::Sale;
pub use self::select::{Selected, select};
pub use self::series::SERIES;
pub use common::coins::Coins;
pub use common::pet_level::PetLevel;
