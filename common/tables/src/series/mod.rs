//! Series of prices: the recorded minutes of all products, and candles of several intervals that are built
//! from minutes and finer candles.
//!
//! The products of a series are divided into shards. A row holds one slot of one shard: a map from product id
//! to value. A slot therefore takes at most a few hundred rows instead of one per product. A query of one
//! product reads the rows of one shard, and takes one entry from each row.
//!
//! | attribute | value |
//! |---|---|
//! | `pk` | `SERIES#INTERVAL#SHARD`, such as `candles#5m#017` |
//! | `sk` | the slot: the start of the interval in Unix seconds, ten digits |
//! | `products` | the map |
//! | `ttl` | when the row expires, in Unix seconds; absent if the row is kept permanently |
//!
//! The marker of a slot is a row that is written after all other rows of the slot. Its `pk` is
//! `SERIES#INTERVAL`, its `sk` is the slot, its `rows` is the number of the slot's other rows, and its `ttl`
//! is as above.
//!
//! Building has a frontier: every candle that ends by the frontier is built, if there was data for it. If
//! data is added later for a time before the frontier, the time is noted, and the slots from that time on are
//! built again. A stored candle of more data than the new one stays. Repeated runs therefore change nothing,
//! and the next run completes a run that was killed.

mod build;
mod candle;
mod csv;
pub(crate) mod keys;
pub(crate) mod marker;
pub(crate) mod page;
mod progress;
pub(crate) mod rows;

pub use self::build::{Built, BuiltSlot, behind, build, ends, is_empty};
pub use self::candle::{Candles, Series, SeriesCandle};
pub use self::csv::csv;
pub use self::keys::{Interval, Slot};
pub use self::marker::{Found, is_due, newest, oldest, recorded};
pub use self::page::{Page, PagedCandle, Period, page};
pub use self::progress::{begin_at, build_again, note_late};
pub use self::rows::{Recorded, SlotCandles, Written, candles, recorded_candles, rows, slot_candles, store};
