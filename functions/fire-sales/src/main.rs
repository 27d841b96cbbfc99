//! The Lambda binary of `fire-sales`.

fn main() {}
