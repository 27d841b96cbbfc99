//! Why an auction is left out.

/// Why `item_bytes` have no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    /// The text or its NBT is longer than that of any item.
    #[error("it is too large")]
    TooLarge,
    /// The text is not gzip in base64.
    #[error("it is not gzip in base64")]
    Encoding,
    /// The decompressed bytes are not NBT, or nest too deep.
    #[error("it is not valid NBT")]
    Nbt,
    /// The NBT is not one item with an id, or a field that decides has another type.
    #[error("it is not one item with an id")]
    NotAnItem,
    /// The stack has no pieces.
    #[error("its count is not positive")]
    Count,
    /// The attributes that the id is made of are missing or make no sense.
    #[error("its attributes do not decide which item it is")]
    Undecided,
    /// It is a book of no or several enchantments, which have no name of their own.
    #[error("it is a book of no or several enchantments")]
    Book,
    /// The id is too long or has other characters than ids have.
    #[error("its id is not legal")]
    Id,
}
