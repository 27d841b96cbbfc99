//! The prices of items in auctions, for the recorder `record-auctions`.

pub mod item;
