//! Computes in the simplest way which candles and quotes must follow from recorded minutes, by
//! `functions/README.md`. This module shares no code with the functions.

mod candle;
mod quote;

pub(crate) use candle::{Candle, Minute};
pub(crate) use quote::{Quote, percent};
