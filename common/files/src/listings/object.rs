//! Writes the object.

use bytes::Bytes;
use common::gzip::Gzip;
use common::request::auction_item_id::AuctionItemId;
use object_store::PutPayload;
use serde::Serialize;

use super::index::{LENGTH_BYTES, StoredIndex, TAIL};
use super::listing::Listing;
use super::stamp::Stamp;
use crate::error::Error;

/// Returns the block with the auctions of an id, which must be sorted.
///
/// # Errors
/// If the auctions cannot be written as JSON or compressed.
pub fn block<P: Serialize>(auctions: &[Listing<P>], gzip: &mut Gzip) -> Result<Bytes, Error> {
    Ok(gzip.pack(&serde_json::to_vec(auctions)?)?.into())
}

/// The running auctions of all items.
#[derive(Debug, Clone)]
pub struct Object {
    pub stamp: Stamp,
    pub blocks: Vec<(AuctionItemId, Bytes)>,
}

impl Object {
    pub(super) fn content(&self) -> Result<PutPayload, Error> {
        let index = StoredIndex {
            stamp: self.stamp,
            ids: self.blocks.iter().map(|(id, _)| id.clone()).collect(),
            lengths: self.blocks.iter().map(|(_, block)| block.len() as u64).collect(),
        };
        let index = Gzip::default().pack(&serde_json::to_vec(&index)?)?;
        let length = u32::try_from(index.len()).map_err(|_| Error::Corrupt("its index is too large"))?;
        if u64::from(length) + LENGTH_BYTES > TAIL {
            return Err(Error::Corrupt("its index is too large"));
        }
        let blocks = self.blocks.iter().map(|(_, block)| block.clone());
        Ok(blocks.chain([Bytes::from(index), Bytes::copy_from_slice(&length.to_be_bytes())]).collect())
    }
}
