//! What all recorded prices of the bazaar have in common: their rows are divided into shards and filed under slots, the
//! intervals of their tier.

use common::params::ItemId;
use common::time::UnixSeconds;

/// The attribute with the map from product id to values.
pub(super) const PRODUCTS: &str = "products";

/// The first and the last time whose slots have keys of ten digits.
pub(super) const FIRST_SLOT: UnixSeconds = UnixSeconds::new(0);
pub(super) const LAST_SLOT: UnixSeconds = UnixSeconds::new(9_999_999_999);

/// Returns the shard of the product among this many. CRC-32 never changes and exists in every language.
pub(super) fn shard(id: &ItemId, shards: u32) -> u32 {
    crc32fast::hash(id.as_str().as_bytes()) % shards
}

/// Returns the sort key of a slot. Sort keys have the order of time, from `FIRST_SLOT` to `LAST_SLOT`.
pub(super) fn slot_key(slot: UnixSeconds) -> String {
    format!("{:010}", slot.get())
}

/// Returns the slot with this sort key. `None` for any other text.
pub(super) fn parse_slot_key(key: &str) -> Option<UnixSeconds> {
    let is_key = key.len() == 10 && key.bytes().all(|byte| byte.is_ascii_digit());
    is_key.then(|| key.parse::<u32>().ok().map(|slot| UnixSeconds::new(slot.into()))).flatten()
}
