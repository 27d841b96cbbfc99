//! What must follow from a provider's body and from recorded minutes, as `functions/README.md` describes it, computed in the
//! simplest way. It shares no code with the functions.

mod candle;
mod facts;
mod quote;
mod source;

pub(crate) use candle::Candle;
pub(crate) use facts::{BazaarFacts, Data, Facts, past_mayor, sale, spelled};
pub(crate) use quote::Quote;
pub(crate) use source::Source;
