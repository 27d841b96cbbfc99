//! Texts with data of all items: JSON, compressed with gzip.

use common::gzip::{self, Gzip};
use common::request::auction_item_id::AuctionItemId;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Serialize};

use crate::item::{Attributes, Corrupt, bytes};

/// The attribute with a compressed text.
pub(crate) const CONTENT: &str = "content";

/// The maximum number of bytes of content in a row. DynamoDB limits a row to 400 KiB.
pub(super) const LARGEST_PART: usize = 300_000;

/// The maximum number of bytes of JSON that are read: ten times the usual size.
const LARGEST: usize = 4 * 1024 * 1024;

/// The highest compression level that takes less than 50 ms. The two levels above it save only 0.2 %.
const LEVEL: i32 = 10;

/// The base of the digit that counts the characters shared with the previous id.
const BASE: u32 = 36;
const LONGEST_SHARED: usize = 35;

/// Returns the compressed text.
pub(crate) fn pack<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    Gzip::of_level(LEVEL).pack(&serde_json::to_vec(value)?).map_err(serde_json::Error::custom)
}

/// Parses a compressed text; `None` if it is corrupt.
pub(super) fn unpack<T: DeserializeOwned>(compressed: &[u8]) -> Option<T> {
    serde_json::from_slice(&gzip::unpack(compressed, LARGEST)?).ok()
}

/// Reads the compressed text in a row. `expected` names the text in the error.
pub(crate) fn content<T: DeserializeOwned>(row: &Attributes, expected: &'static str) -> Result<T, Corrupt> {
    unpack(&bytes(row, CONTENT)?).ok_or(Corrupt::new(CONTENT, expected))
}

/// Sorted ids, separated by commas. Each entry is a digit, the number of leading characters shared with the
/// previous id, followed by the rest of the id. This takes a quarter less space than whole ids.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ids(String);

impl Ids {
    pub(super) fn of<'a>(ids: impl Iterator<Item = &'a AuctionItemId>) -> Self {
        let mut text = String::new();
        let mut before = "";
        for id in ids.map(AuctionItemId::as_str) {
            let equal = before.bytes().zip(id.bytes()).take_while(|(one, other)| one == other).count();
            let shared = equal.min(LONGEST_SHARED);
            text.extend((!text.is_empty()).then_some(','));
            text.extend(u32::try_from(shared).ok().and_then(|shared| char::from_digit(shared, BASE)));
            // Ids are ASCII.
            text.push_str(id.get(shared..).unwrap_or_default());
            before = id;
        }
        Self(text)
    }

    /// Returns the ids; `None` if the text is corrupt.
    pub(super) fn ids(&self) -> Option<Vec<AuctionItemId>> {
        let mut before = String::new();
        let id = |part: &str| {
            let digit = part.chars().next()?;
            before.truncate(digit.to_digit(BASE)? as usize);
            before.push_str(part.get(digit.len_utf8()..)?);
            before.parse().ok()
        };
        if self.0.is_empty() { Some(Vec::new()) } else { self.0.split(',').map(id).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_were_written() {
        let long = "A".repeat(63);
        let ids =
            [format!("{long}A"), format!("{long}B"), "LOG-2".into(), "SHEEP;4".into(), "SHEEP;4+100".into()];
        for ids in [&ids[..], &[]] {
            let ids: Vec<AuctionItemId> = ids.iter().map(|id| id.parse().unwrap()).collect();
            assert_eq!(Ids::of(ids.iter()).ids().unwrap(), ids);
        }
        for corrupt in ["_A", "0a", "0A,", "Ä"] {
            assert_eq!(Ids(corrupt.to_owned()).ids(), None, "{corrupt}");
        }
    }
}
