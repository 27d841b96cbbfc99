//! Finds the item in NBT.

use super::nbt::Value;
use super::reason::Reason;

#[derive(Debug)]
pub(super) struct Stack<'a> {
    pub(super) count: i64,
    /// The provider's id.
    pub(super) id: &'a str,
    /// The level of a pet. `None` for other items and without a level in the name.
    pub(super) level: Option<u32>,
    /// The provider's `ExtraAttributes`, including the id.
    pub(super) attributes: Value<'a>,
}

/// Returns the item in these bytes, which must contain exactly one item.
pub(super) fn read(nbt: &[u8]) -> Result<Stack<'_>, Reason> {
    let root = Value::root(nbt).ok_or(Reason::Nbt)?;
    stack(root).ok_or(Reason::NotAnItem)
}

/// Returns the only item of the list `i`.
fn stack(root: Value<'_>) -> Option<Stack<'_>> {
    let item = root.get("i")?.only_element()?;
    let tag = item.get("tag")?;
    let attributes = tag.get("ExtraAttributes")?;
    let id = attributes.get("id")?.text()?;
    let level = if id == "PET" { level(tag) } else { None };
    Some(Stack { count: item.get("Count")?.integer()?, id, level, attributes })
}

/// Returns the level in the name of a pet, such as `§7[Lvl 87] §6Sheep`. The level cannot be computed from
/// the experience: the steps depend on the kind of the pet and on a tier boost, and new kinds of pets have
/// new steps.
fn level(tag: Value<'_>) -> Option<u32> {
    let name = String::from_utf8_lossy(tag.get("display")?.get("Name")?.text_bytes()?);
    name.split_once("[Lvl ")?.1.split_once(']')?.0.parse().ok()
}
