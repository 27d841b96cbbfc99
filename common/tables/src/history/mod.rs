//! Histories that the provider does not offer: past mayors and past fire sales. They share the table
//! `History` with the series of prices. A row's partition key shows which history the row belongs to.

pub mod fire_sales;
pub mod mayors;
