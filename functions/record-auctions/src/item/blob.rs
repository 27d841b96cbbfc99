//! From `item_bytes` to NBT: base64 and gzip, both bounded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libdeflater::{DecompressionError, Decompressor};

use super::reason::Reason;

/// How many characters `item_bytes` may have. The longest of 11,920 real ones has 2,900. A backpack contains its items, compressed
/// like this one, so it can be longer by the number of its slots.
pub const LONGEST_TEXT: usize = 128 * 1024;

/// How many bytes of NBT they may have. The most of the same items is 3,200, and a backpack has room here for the same reason.
pub const LARGEST_NBT: usize = 256 * 1024;

/// The memory for decoding, kept from item to item.
pub struct Buffers {
    gzip: Box<[u8]>,
    nbt: Box<[u8]>,
    decompressor: Decompressor,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            gzip: vec![0; LONGEST_TEXT / 4 * 3].into(),
            nbt: vec![0; LARGEST_NBT].into(),
            decompressor: Decompressor::new(),
        }
    }
}

impl Buffers {
    /// Returns the NBT in this text.
    pub(super) fn decode(&mut self, text: &str) -> Result<&[u8], Reason> {
        if text.len() > LONGEST_TEXT {
            return Err(Reason::TooLarge);
        }
        let length = STANDARD.decode_slice(text, &mut self.gzip).map_err(|_| Reason::Encoding)?;
        let gzip = self.gzip.get(..length).unwrap_or_default();
        let length = self.decompressor.gzip_decompress(gzip, &mut self.nbt).map_err(|error| match error {
            DecompressionError::BadData => Reason::Encoding,
            DecompressionError::InsufficientSpace => Reason::TooLarge,
        })?;
        Ok(self.nbt.get(..length).unwrap_or_default())
    }
}
