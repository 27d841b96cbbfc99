//! Bazaar prices over time. Every minute, `record-bazaar` writes the prices of all products, and
//! `record-candles` builds candles from the minutes ([`series`](crate::series)). A query reads one product:
//! its candles, or its history, whose points are minutes or closes of candles.
//!
//! | series | value of a product |
//! |---|---|
//! | `bazaar#1m` | a list of numbers ([`Quote::numbers`]) |
//! | `candles#5m` to `candles#1d` | a text of numbers ([`Candle::numbers`]), separated by commas. A list would be a fifth smaller, but a query of hundreds of rows would take twice the processor time |

pub(crate) mod candle;
mod fields;
mod history;
pub(crate) mod intervals;
mod minutes;
mod numbers;
pub(crate) mod quote;
pub(crate) mod series;

pub use self::candle::{Best, Candle, Prices};
pub use self::fields::{CandleFields, ProductCandle};
pub use self::history::{Point, points};
pub use self::intervals::{INTERVALS, ONE_MINUTE, RANGES, Range};
pub use self::minutes::record;
pub use self::numbers::{Number, Numbers};
pub use self::quote::{Price, Quote, Quotes};
pub use self::series::{Candles, SERIES};
