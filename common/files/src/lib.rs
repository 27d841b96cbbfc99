//! Public files: data that is the same for all clients, in a bucket behind a CDN or in a folder. The recorders write the files; no
//! function serves them.
//!
//! A file never goes back in time. A run first looks up the stored version, then reads the data, and writes only if the stored version
//! is still the same. Newer data is therefore never replaced by older data. Files of a minute contain data that the run itself has
//! fetched before, so a clock decides whether the run may write them ([`advance`]). Each write replaces the whole file. If a run is
//! killed, the next run that writes the file completes the work.

mod connector;
mod prices;
mod store;

pub use self::prices::{Market, Price, PriceRow, advance};
pub use self::store::{Error, Files, Form, Seen, gzip};
