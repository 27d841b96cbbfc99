//! `cargo openapi`: writes the API description to where it is checked in.
#![expect(clippy::print_stdout, reason = "a command line")]

use std::error::Error;
use std::path::Path;

use clap::Parser;

/// Write the API description to where it is checked in
#[derive(Parser)]
#[command(name = "openapi", bin_name = "cargo openapi")]
struct Arguments {}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments {} = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(root.join(openapi::CHECKED_IN), openapi::text()?)?;
    println!("wrote {}", openapi::CHECKED_IN);
    Ok(())
}
