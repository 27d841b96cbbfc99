//! The `cargo scale` command.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

/// Simulate the service under load and print the tables of infra/README.md
#[derive(Parser)]
#[command(name = "scale", bin_name = "cargo scale", display_name = "cargo scale", version)]
struct Arguments {
    /// Write the tables into infra/README.md
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// # Errors
/// If standard output or the page cannot be written, or the page has no place for the tables.
fn run(arguments: &Arguments) -> Result<(), String> {
    let tables = scale::tables();
    if !arguments.write {
        let text: Vec<_> = tables.into_iter().map(|(_, table)| table).collect();
        let written = io::stdout().write_all(text.join("\n").as_bytes());
        return written.map_err(|error| format!("cannot print: {error}"));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    tables.iter().try_for_each(|(name, table)| markdown::write(&page, name, table))
}
