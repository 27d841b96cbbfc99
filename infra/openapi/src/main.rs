//! `cargo generate`: writes the OpenAPI document, the texts that are generated from it, the sample events,
//! and the tables of pages that repeat the code.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

/// Write everything that is generated and checked in
#[derive(Parser)]
#[command(name = "generate", bin_name = "cargo generate")]
struct Arguments {}

fn main() -> ExitCode {
    let Arguments {} = Arguments::parse();
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, text) in openapi::files(&root)? {
        let file = root.join(&path);
        if std::fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            std::fs::write(file, text)?;
            println!("wrote {path}");
        }
    }
    Ok(())
}
