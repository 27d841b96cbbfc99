//! The market page.

mod key;
mod series;
