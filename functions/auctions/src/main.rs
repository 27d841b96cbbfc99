//! The Lambda binary of `auctions`.

fn main() {}
