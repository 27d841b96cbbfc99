//! The index of the object.

use std::collections::BTreeMap;
use std::ops::Range;

use common::cache::Weight;
use common::gzip::unpack;
use common::request::auction_item_id::AuctionItemId;
use serde::{Deserialize, Serialize};

use super::stamp::Stamp;
use crate::bucket::Tag;
use crate::error::Error;

/// The number of bytes at the end of the object that a reader requests. An index of 6,500 ids takes a fifth
/// of it.
pub(super) const TAIL: u64 = 256 * 1024;

/// The number of bytes of the length at the end.
pub(super) const LENGTH_BYTES: u64 = 4;

/// The maximum number of bytes that are unpacked: ten times the auctions of the most frequent item.
pub(super) const LARGEST: usize = 16 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
pub(super) struct StoredIndex {
    pub(super) stamp: Stamp,
    pub(super) ids: Vec<AuctionItemId>,
    /// The number of bytes of each block.
    pub(super) lengths: Vec<u64>,
}

/// Where each block is in one version of the object.
#[derive(Debug)]
pub struct Index {
    pub(super) stamp: Stamp,
    /// The version of the object.
    pub(super) tag: Tag,
    pub(super) blocks: BTreeMap<AuctionItemId, Range<u64>>,
}

impl Index {
    /// Parses the end of an object of `size` bytes.
    pub(super) fn parse(end: &[u8], size: u64, tag: Tag) -> Result<Self, Error> {
        let (rest, length) = end.split_last_chunk().ok_or(Error::Corrupt("it has no index"))?;
        let length = u32::from_be_bytes(*length);
        let start = rest.len().checked_sub(length as usize);
        let index = start.and_then(|start| unpack(rest.get(start..)?, LARGEST));
        let index = index.ok_or(Error::Corrupt("its index cannot be unpacked"))?;
        let StoredIndex { stamp, ids, lengths } = serde_json::from_slice(&index)?;
        let mut end = 0_u64;
        let ranges = lengths.iter().map(|length| {
            let start = end;
            end = end.saturating_add(*length);
            start..end
        });
        let ranges: Vec<_> = ranges.collect();
        if ids.len() != ranges.len() || Some(end) != size.checked_sub(u64::from(length) + LENGTH_BYTES) {
            return Err(Error::Corrupt("its index does not fit its size"));
        }
        Ok(Self { stamp, tag, blocks: ids.into_iter().zip(ranges).collect() })
    }

    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }
}

impl Weight for Index {
    fn bytes(&self) -> usize {
        // Each entry also has the text of its id.
        self.blocks.len() * 2 * size_of::<(AuctionItemId, Range<u64>)>()
    }
}
