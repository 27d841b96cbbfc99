//! The `simulator` command.

fn main() {}
