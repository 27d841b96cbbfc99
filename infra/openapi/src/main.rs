//! `cargo openapi`: writes the API description to where it is checked in.
#![expect(clippy::print_stdout, reason = "a command line")]

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(root.join(openapi::CHECKED_IN), openapi::text()?)?;
    println!("wrote {}", openapi::CHECKED_IN);
    Ok(())
}
