//! Computes in the simplest way which responses must follow from a provider's body or from recorded minutes, by
//! `functions/README.md`. This module shares no code with the functions.

mod candle;
mod facts;
mod quote;
mod source;

pub(crate) use candle::{Candle, Minute};
pub(crate) use facts::{BazaarFacts, Data, Facts, past_mayor, sale, spelled};
pub(crate) use quote::Quote;
pub(crate) use source::Source;
