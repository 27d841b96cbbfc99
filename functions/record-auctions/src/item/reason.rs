//! Why no item can be read from `item_bytes`.

/// Why an auction is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    /// The text or its NBT exceeds its limit.
    #[error("it is too large")]
    TooLarge,
    /// The text is not gzip in base64.
    #[error("it is not gzip in base64")]
    Encoding,
    /// The decompressed bytes are not NBT, or are nested too deep.
    #[error("it is not valid NBT")]
    Nbt,
    /// The NBT is not one item with an id, or an attribute that the id depends on has an unexpected type.
    #[error("it is not one item with an id")]
    NotAnItem,
    /// The count is 0 or negative.
    #[error("its count is not positive")]
    Count,
    /// The attributes that the id depends on are missing or invalid.
    #[error("its attributes do not decide which item it is")]
    Undecided,
    /// The item is a book without exactly one enchantment, which has no id.
    #[error("it is a book without exactly one enchantment")]
    Book,
    /// The id is too long or contains a character that ids cannot have.
    #[error("its id is not legal")]
    Id,
}
