//! Histories that the provider does not offer: past mayors, past fire sales, and prices and candles of bazaar products. They share one
//! table, `History`. The partition key of a row says which history it belongs to.

pub mod bazaar;
pub mod candles;
pub mod fire_sales;
pub mod mayors;
mod slots;
