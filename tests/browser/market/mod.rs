//! The market page.

mod key;
