//! `cargo openapi`: generates the OpenAPI document and the texts that are made of it, and writes them to `functions/index`.
#![expect(clippy::print_stdout, reason = "a command line")]

use std::error::Error;
use std::path::Path;

use clap::Parser;

/// Generate the OpenAPI document, the reference in Markdown and llms.txt, which the index serves
#[derive(Parser)]
#[command(name = "openapi", bin_name = "cargo openapi")]
struct Arguments {}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments {} = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in openapi::files()? {
        std::fs::write(root.join(openapi::FOLDER).join(name), text)?;
        println!("wrote {}/{name}", openapi::FOLDER);
    }
    Ok(())
}
