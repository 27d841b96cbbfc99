//! The item of an auction: which one it is, and how many of it. The provider sends both only inside of `item_bytes`.
//!
//! `blob` decodes the text, `nbt` finds values in the bytes, `attributes` knows what players add, and `id` has the rules.

mod attributes;
mod blob;
mod id;
mod nbt;
mod reason;

use std::num::NonZeroU32;

use common::request::auction_item_id::AuctionItemId;

pub use self::blob::{Buffers, LARGEST_NBT, LONGEST_TEXT};
pub use self::nbt::DEEPEST;
pub use self::reason::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id, the internal name that mods use.
    pub id: AuctionItemId,
    /// A second id under which it also counts, such as `SHEEP;4+100` for a pet of level 100.
    pub also: Option<AuctionItemId>,
    /// How many pieces the auction sells. Its price is for all of them.
    pub count: NonZeroU32,
    /// Whether it is clean: without enchantments, a reforge, stars, a recombobulator, gems, books and a skin. A price list can tell its price from
    /// that of copies that players have improved.
    pub clean: bool,
}

/// Returns the item in the `item_bytes` of an auction.
///
/// # Errors
/// If the text is not an item, or the rules give it no id.
pub fn read(item_bytes: &str, buffers: &mut Buffers) -> Result<Item, Reason> {
    let stack = attributes::read(buffers.decode(item_bytes)?)?;
    let count = u32::try_from(stack.count).ok().and_then(NonZeroU32::new).ok_or(Reason::Count)?;
    let (id, also) = id::ids(&stack)?;
    Ok(Item { id, also, count, clean: stack.is_clean() })
}
