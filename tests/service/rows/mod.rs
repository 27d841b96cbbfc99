//! An invalid row of the provider is left out, and the other rows are served. Each file has the valid and invalid values of
//! every field of a route's rows.

mod auctions;
mod bazaar;
mod fire_sales;
mod items;
mod mayor;
mod profile;
mod snapshots;
mod table;
