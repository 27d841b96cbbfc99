//! The Lambda binary of `index`.

fn main() {}
