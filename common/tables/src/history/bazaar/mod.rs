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
//! When all rows of a tick are written, a marker is written under `bazaar#TIER` and the slot:
//!
//! | attribute | value |
//! |---|---|
//! | `recorded_at` | the tick |
//! | `rows` | the number of its rows |
//! | `products` | the number of its products. Markers of older versions do not have it and count as full |
//!
//! A slot belongs to its earliest recorded tick. But if a later tick has more than twice as many products, the earlier one was
//! recorded while the provider's response was mostly unusable, and the slot belongs to the later one. So a repeated event changes
//! nothing, events may arrive in any order or at once, and neither a missed nor a poor tick leaves a gap in a coarse tier: the next
//! tick fills the slot. (Only if three ticks or more have very different numbers of products, such as 10, 20 and 30, the order of
//! events decides which of them holds the slot.)
//!
//! Ticks never overwrite each other's rows. Two recorders of one tick do, so the marker counts what the one with fewer products
//! wrote, if that is less than half. A tick that gets a slot writes its rows, deletes those of the tick before, and then
//! moves the marker, on the condition that the marker has not changed since; otherwise it reads the marker again. A tick that
//! does not get the slot deletes its own rows. A query needs no marker: it uses the earliest tick of a slot that has the
//! product. While rows are replaced, and after a recorder was killed, that may be another tick than the marker's, but its
//! price is one of its own minute, and no product is missing.

mod chart;
mod complete;
mod fill;
mod quotes;
mod tiers;

pub use self::chart::{Point, points};
pub(in crate::history) use self::complete::complete_between;
pub use self::complete::{CompleteSlots, RecordedTick, TickStatus, quotes, recorded_since, recorded_ticks};
pub use self::fill::{FilledSlot, OpenSlot, fill, open_slots};
pub use self::quotes::{Price, Quote, Quotes};
pub use self::tiers::{TIERS, Tier};
