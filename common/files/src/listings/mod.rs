//! The running buy-it-now auctions: one private object, which `record-auctions` replaces each minute, and
//! from which `auctions-listings` reads the auctions of one item.
//!
//! | part | content |
//! |---|---|
//! | a block for each id | its auctions as in responses, cheapest first: JSON, compressed with gzip |
//! | the index | when the auctions were read, the ids, and the length of each block: JSON, compressed with gzip |
//! | the last four bytes | the length of the index |
//!
//! A reader requests the end of the object, and then a block under the condition that the object is still the
//! same (`If-Match`). An auction of an item with two ids is in two blocks.

mod index;
mod listing;
mod object;
mod stamp;
mod store;

pub use self::index::Index;
pub use self::listing::{Listing, Properties};
pub use self::object::{Object, block};
pub use self::stamp::Stamp;
pub use self::store::Listings;
