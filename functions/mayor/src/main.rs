//! The Lambda binary of `mayor`.

fn main() {}
