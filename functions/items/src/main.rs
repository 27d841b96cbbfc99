//! The Lambda binary of `items`.

fn main() {}
