//! The `item_bytes` of an auction: base64 of gzipped NBT, Minecraft's own binary tree, holding one item.

use std::io::Write;

use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The NBT tag types that an item needs.
const END: u8 = 0;
const BYTE: u8 = 1;
const SHORT: u8 = 2;
const STRING: u8 = 8;
const LIST: u8 = 9;
const COMPOUND: u8 = 10;

/// The encoded fields of an item.
pub(crate) struct Item<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) lore: &'a str,
    pub(crate) uuid: Option<&'a str>,
    pub(crate) texture: &'a str,
}

/// The blob as base64 text.
pub(crate) fn encode(item: &Item<'_>) -> String {
    let mut nbt = Vec::with_capacity(1_024 + item.lore.len());
    tag(&mut nbt, COMPOUND, "");
    tag(&mut nbt, LIST, "i");
    nbt.push(COMPOUND);
    nbt.extend(1_i32.to_be_bytes());
    tag(&mut nbt, SHORT, "id");
    nbt.extend(397_i16.to_be_bytes());
    tag(&mut nbt, BYTE, "Count");
    nbt.push(1);
    tag(&mut nbt, COMPOUND, "tag");
    tag(&mut nbt, COMPOUND, "SkullOwner");
    tag(&mut nbt, STRING, "Value");
    string(&mut nbt, item.texture);
    nbt.push(END);
    tag(&mut nbt, COMPOUND, "display");
    tag(&mut nbt, LIST, "Lore");
    nbt.push(STRING);
    let lines = i32::try_from(item.lore.split('\n').count()).unwrap_or_default();
    nbt.extend(lines.to_be_bytes());
    for line in item.lore.split('\n') {
        string(&mut nbt, line);
    }
    tag(&mut nbt, STRING, "Name");
    string(&mut nbt, item.name);
    nbt.push(END);
    tag(&mut nbt, COMPOUND, "ExtraAttributes");
    tag(&mut nbt, STRING, "id");
    string(&mut nbt, item.id);
    if let Some(uuid) = item.uuid {
        tag(&mut nbt, STRING, "uuid");
        string(&mut nbt, uuid);
    }
    nbt.push(END);
    // The ends of the tag, the item and the root.
    nbt.extend([END, END, END]);
    base64::engine::general_purpose::STANDARD.encode(gzip(&nbt, Compression::fast()))
}

/// `bytes` as a gzip stream.
pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), level);
    // Writing to a Vec cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn tag(nbt: &mut Vec<u8>, kind: u8, name: &str) {
    nbt.push(kind);
    string(nbt, name);
}

fn string(nbt: &mut Vec<u8>, text: &str) {
    nbt.extend(u16::try_from(text.len()).unwrap_or_default().to_be_bytes());
    nbt.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_blob_is_gzipped_nbt_and_holds_the_item() {
        let item = Item {
            id: "SHADOW_SWORD",
            name: "Shadow Sword",
            lore: "§7a\n§7b",
            uuid: Some("u"),
            texture: "t",
        };
        let bytes = base64::engine::general_purpose::STANDARD.decode(encode(&item)).unwrap();
        let mut nbt = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut nbt).unwrap();
        assert!(nbt.starts_with(&[COMPOUND, 0, 0, LIST, 0, 1, b'i', COMPOUND, 0, 0, 0, 1]));
        assert!(nbt.ends_with(&[END; 4]));
        assert!(nbt.windows(12).any(|window| window == b"SHADOW_SWORD"));
    }
}
