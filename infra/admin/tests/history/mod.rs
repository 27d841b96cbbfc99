//! `cargo admin history` as operators run it: the real program against an embedded `DynamoDB`.

mod bad_lines;
mod files;
mod round_trips;
pub(crate) mod support;
