//! The item of an auction.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::request::auction_item_id::AuctionItemId;
use libdeflater::{CompressionLvl, Compressor};
use record_auctions::item::{Buffers, read};

/// Reads an input as the text of an item, and as its NBT. It is refused, or its ids are legal and differ.
pub(crate) fn item_bytes(data: &[u8]) {
    let mut buffers = Buffers::default();
    let mut check = |text: &str| {
        let Ok(item) = read(text, &mut buffers) else { return };
        assert_ne!(Some(&item.id), item.also.as_ref());
        for id in [Some(&item.id), item.also.as_ref()].into_iter().flatten() {
            assert_eq!(id.as_str().parse::<AuctionItemId>().as_ref(), Ok(id));
        }
    };
    if let Ok(text) = str::from_utf8(data) {
        check(text);
    }
    let mut compressor = Compressor::new(CompressionLvl::fastest());
    let mut gzip = vec![0; compressor.gzip_compress_bound(data.len())];
    if let Ok(length) = compressor.gzip_compress(data, &mut gzip) {
        gzip.truncate(length);
        check(&STANDARD.encode(gzip));
    }
}
