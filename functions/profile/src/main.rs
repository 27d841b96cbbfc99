//! The Lambda binary of `profile`.

fn main() {}
