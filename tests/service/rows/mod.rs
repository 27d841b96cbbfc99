//! A row of the provider that makes no sense is left out, and the others are served. One file per route has a table that
//! says, for every field, which values make sense.

mod auctions;
mod bazaar;
mod fire_sales;
mod items;
mod mayor;
mod profile;
mod snapshots;
mod table;
