//! The Lambda binary of `bazaar`.

fn main() {}
