//! The Lambda binary of `collections`.

fn main() {}
