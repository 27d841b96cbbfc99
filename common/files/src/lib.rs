//! Files in a bucket or a folder: the public files, and the running auctions ([`listings`]).
//!
//! Public files: data that is the same for all clients, in a bucket behind a CDN or in a folder. The
//! recorders write the files; no function serves them.
//!
//! Newer data in a file is never replaced by older data. A run first looks up the stored version of the file,
//! then reads the data from the table, and writes the file only if the stored version is still the same. The
//! files of a minute, `bazaar.json` and `lowestbin.json`, instead contain data that the run fetched before it
//! looked up the version. The times in `prices.json` decide whether the run may write them ([`advance`]).
//! Each write replaces the whole file. If a run is killed before it has written a file, the next run writes
//! it.

mod bucket;
mod connector;
mod error;
pub mod listings;
mod prices;
mod store;

pub use self::error::Error;
pub use self::prices::{Market, Price, PriceRow, advance};
pub use self::store::{Files, Form, Seen, gzip};
