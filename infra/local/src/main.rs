//! The `local` command.

fn main() {}
