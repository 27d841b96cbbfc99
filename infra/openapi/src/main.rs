//! `cargo openapi`: generates the OpenAPI document and writes it to `functions/index/openapi.json`.
#![expect(clippy::print_stdout, reason = "a command line")]

use std::error::Error;
use std::path::Path;

use clap::Parser;

/// Generate the OpenAPI document that the index serves
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
