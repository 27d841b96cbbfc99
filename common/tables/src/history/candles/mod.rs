//! Candles of the bazaar: how the prices of each product moved during intervals of five minutes to a day. `record-candles`
//! builds those of five minutes from the recorded minutes ([`bazaar`](super::bazaar)) and each coarser one from the next finer
//! ones. A query reads one product.
//!
//! The layout is that of the recorded minutes: a row holds one slot of one shard, a map from product id to the candle. A candle is
//! a text of eleven numbers, separated by commas. As a list, it would be a fifth smaller, but a query of hundreds of rows would
//! take twice the processor time, because the SDK makes a value of each number.
//!
//! | attribute | value |
//! |---|---|
//! | `pk` | `candles#INTERVAL#SHARD`, such as `candles#5m#017` |
//! | `sk` | the slot: the start of the interval in Unix seconds, ten digits |
//! | `products` | the map |
//! | `ttl` | when the row expires, in Unix seconds. Daily candles have none |
//!
//! When all rows of a slot are written, a marker is written under `candles#INTERVAL` and the slot:
//!
//! | attribute | value |
//! |---|---|
//! | `version` | the CRC-32 of what the slot was built from. Imported slots of other programs have none |
//! | `rows` | the number of its rows |
//! | `ttl` | as above |
//!
//! A run compares the version of every slot that it can build with that of its sources, and builds the slots whose versions differ.
//! So a repeated event changes nothing, a run that was killed is completed by the next one, a minute that is recorded late gets
//! into its candles, and after an outage the next runs catch up, as far as the recorded minutes have not expired.
//!
//! What a slot is built from hardly ever changes, because a run waits until all recorders of its minutes are done. Two
//! runs at once therefore write the same bytes. If their sources differ nevertheless, the one whose marker comes second finds that
//! the first has changed, and builds the slot again.

mod build;
mod candle;
mod intervals;
mod page;
mod slots;

pub use self::build::{Built, BuiltSlot, REACH, build};
pub use self::candle::{Candle, Candles, InvalidCandle, Prices};
pub use self::intervals::{INTERVALS, Interval};
pub use self::page::{Page, PagedCandle, page};
pub use self::slots::{RecordedSlot, candles, oldest, recorded_slots, store};
