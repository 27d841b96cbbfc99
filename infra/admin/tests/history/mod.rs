//! `cargo admin history` as operators run it: the real program against an embedded `DynamoDB`.

mod bad_lines;
mod built;
mod captured;
mod failures;
mod files;
mod round_trips;
mod support;
