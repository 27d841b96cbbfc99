//! Histories that the provider does not offer: past mayors and past fire sales. They share the table `History` with the series of prices.
//! The partition key of a row says which history it belongs to.

pub mod fire_sales;
pub mod mayors;
