//! The item of an auction: its id and its count. The provider sends both only inside `item_bytes`.
//!
//! `blob` decodes the text, `nbt` finds values in the bytes, `attributes` finds the item, `id` has the rules
//! for ids, `properties` has what changes the price of a copy, and `upgrades` tells whether players have
//! improved the item.

mod attributes;
mod blob;
mod id;
mod nbt;
mod properties;
mod reason;
mod upgrades;

use std::num::NonZeroU32;

use common::request::auction_item_id::AuctionItemId;
use files::listings::Properties;

pub use self::blob::{Buffers, LARGEST_NBT, LONGEST_TEXT};
pub use self::nbt::DEEPEST;
pub use self::reason::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The id: the internal name that mods use.
    pub id: AuctionItemId,
    /// A second id under which the item also counts, such as `SHEEP;4+100` for a pet of level 100.
    pub also: Option<AuctionItemId>,
    /// The number of pieces in the stack. The price of an auction is for all of them.
    pub count: NonZeroU32,
    /// The level of a pet is `None` for other items, and if the name of the pet has no level or one above
    /// 200.
    pub properties: Properties,
}

/// Returns the item in the `item_bytes` of an auction.
///
/// # Errors
/// If the text is not exactly one item, or its attributes determine no id.
pub fn read(item_bytes: &str, buffers: &mut Buffers) -> Result<Item, Reason> {
    let stack = attributes::read(buffers.decode(item_bytes)?)?;
    let count = u32::try_from(stack.count).ok().and_then(NonZeroU32::new).ok_or(Reason::Count)?;
    let (id, also) = id::ids(&stack)?;
    Ok(Item { id, also, count, properties: properties::properties(&stack) })
}
