//! What the provider does not keep: past mayors, past fire sales, and what products of the bazaar cost. All of it is in
//! one table, `History`, whose partition keys say which kind a row is.

pub mod bazaar;
pub mod fire_sales;
pub mod mayors;
