//! Public files: data that is the same for everybody, in a bucket behind a CDN, or in a folder. The recorders write them; no function
//! serves them.
//!
//! A file never goes back in time. Whoever writes one sees the version that it replaces first, then reads the data, and writes only if
//! that version is still there: then no other run has written data in between that was read later. Files of a minute, whose data is the
//! run's own, have a clock instead of the second step ([`advance`]). Each write replaces a file as a whole. The next run that writes the
//! file completes what a killed one has left.

mod connector;
mod prices;
mod store;

pub use self::prices::{Market, Price, PriceRow, advance};
pub use self::store::{Error, Files, Form, Seen, gzip};
