//! Series of prices: rows by time for all products, and candles of several intervals that are built from finer ones.
//!
//! The products of a series are divided into shards. A row holds one slot of one shard: a map from product id to a value. So a slot
//! takes about a hundred rows instead of one per product, and a query reads the rows of one shard and takes one entry of each.
//!
//! | attribute | value |
//! |---|---|
//! | `pk` | `SERIES#INTERVAL#SHARD`, such as `candles#5m#017` |
//! | `sk` | the slot: the start of the interval in Unix seconds, ten digits |
//! | `products` | the map |
//! | `ttl` | when the row expires, in Unix seconds. Rows that are kept for ever have none |
//!
//! When all rows of a slot are written, a marker is written under `SERIES#INTERVAL` and the slot: `rows` is the number of its rows,
//! and `ttl` as above.
//!
//! Building has a frontier: every candle that ends no later is built, as far as there was data for it. Data of earlier times that
//! comes later is noted, and the slots from there on are built again. A candle that has more samples than its finer data
//! stays as it is. So repeated runs change nothing, and a run that was killed is completed by the next one.

mod build;
mod candle;
mod csv;
pub(crate) mod keys;
pub(crate) mod marker;
pub(crate) mod page;
mod progress;
pub(crate) mod rows;

pub use self::build::{Built, BuiltSlot, behind, build, ends};
pub use self::candle::{Candles, Series, SeriesCandle};
pub use self::csv::csv;
pub use self::keys::{Interval, Slot};
pub use self::marker::{is_due, is_free, oldest, recorded};
pub use self::page::{Page, PagedCandle, page};
pub use self::progress::{begin_at, build_again, note_late};
pub use self::rows::{Recorded, SlotCandles, Written, candles, recorded_candles, slot_candles, store};
