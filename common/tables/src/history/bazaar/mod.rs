//! Prices of the bazaar over time. The recorder writes them every minute for all products; a query reads one product.
//!
//! The products are divided into shards. A row holds one tick of one shard: a map from product id to `[sell_price, buy_price,
//! sell_volume, buy_volume]`. So a tick takes about a hundred rows instead of one per product, and a query reads the rows of one
//! shard and takes one entry of each. Five tiers hold the same data at five intervals. Each tier serves one range, so nothing
//! is resampled.
//!
//! | attribute | value |
//! |---|---|
//! | `pk` | `bazaar#TIER#SHARD`, such as `bazaar#5m#017` |
//! | `sk` | the slot: the start of the tier's interval in Unix seconds, ten digits. If the tick is a later one of the slot, `#` and its distance in minutes, three digits: `1795273200#017` |
//! | `products` | the map |
//! | `ttl` | when the row expires, in Unix seconds |
//!
//! A slot belongs to its earliest recorded tick. When all rows of a tick are written, a marker is written under `bazaar#TIER` and
//! the slot: `recorded_at` is the tick, `rows` the number of its rows. Ticks never overwrite each other's rows, and a query uses
//! the earliest tick of a slot. So a repeated event changes nothing, events may arrive in any order or at once, and a missed
//! tick leaves no gap in a coarse tier: the next tick fills the slot.

mod chart;
mod complete;
mod fill;
mod quotes;
mod tiers;

pub use self::chart::{Point, points};
pub use self::complete::{CompleteSlots, RecordedTick, TickStatus, quotes, recorded_ticks};
pub use self::fill::{FilledSlot, OpenSlot, fill, open_slots};
pub use self::quotes::{Price, Quote, Quotes};
pub use self::tiers::{TIERS, Tier};
