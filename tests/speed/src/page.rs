//! The tables that commands print, and write into pages.

pub(crate) use markdown::{table, write};
