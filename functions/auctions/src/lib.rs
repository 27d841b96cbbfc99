//! GET /v1/auctions: one page of the auction house
