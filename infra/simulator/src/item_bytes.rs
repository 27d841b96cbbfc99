//! The `item_bytes` of an auction: base64 of gzipped NBT, Minecraft's own binary tree, holding one item.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress};
use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Nbt {
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
    Text(String),
    List(Vec<Nbt>),
    Compound(Compound),
}

/// NBT's object.
pub(crate) type Compound = BTreeMap<String, Nbt>;

pub(crate) fn compound<'a>(entries: impl IntoIterator<Item = (&'a str, Nbt)>) -> Nbt {
    Nbt::Compound(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns the `item_bytes` of an auction of `item`.
pub(crate) fn encode(item: Nbt) -> String {
    // Serialization fails only without a compound at the root.
    let nbt = fastnbt::to_bytes(&compound([("i", Nbt::List(vec![item]))])).unwrap_or_default();
    let mut blob = Vec::with_capacity(2 * nbt.len());
    COMPRESS.with_borrow_mut(|compress| {
        compress.reset();
        // Compressing fails only after a wrong sequence of calls.
        let _ = compress.compress_vec(&nbt, &mut blob, FlushCompress::Finish);
    });
    STANDARD.encode(blob)
}

thread_local! {
    /// Reused, because setting up a `Compress` takes longer than compressing an item.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new_gzip(Compression::fast(), 15));
}

/// `bytes` as a gzip stream.
pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), level);
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
