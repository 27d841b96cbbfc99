//! The latest ended auctions. No route serves them; `record-auctions` reads them.

use super::resource::ParsedResource;

pub(crate) const ENDED_AUCTIONS: ParsedResource = ParsedResource {
    path: "/v2/skyblock/auctions_ended",
    rows: ["/auctions", ""],
    further_parts: &["/auction_id", "/timestamp", "/price", "/bin", "/item_bytes"],
    ..ParsedResource::USUAL
};
