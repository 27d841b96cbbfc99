//! Decodes `item_bytes` to NBT: base64, then gzip. Both results have a size limit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libdeflater::{DecompressionError, Decompressor};

use super::reason::Reason;

/// The maximum length of `item_bytes`, in characters. The longest of 11,920 real texts has 2,900. A backpack
/// can be longer, because it contains the compressed items of its slots.
pub const LONGEST_TEXT: usize = 128 * 1024;

/// The maximum size of the NBT in bytes. The largest of the same items has 3,200; the limit leaves room for
/// backpacks.
pub const LARGEST_NBT: usize = 256 * 1024;

/// The memory for decoding, which all items share.
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
    /// Decodes the text to NBT.
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
