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
fn run(arguments: &Arguments) -> io::Result<()> {
    let tables = scale::tables();
    if !arguments.write {
        let text: Vec<_> = tables.into_iter().map(|(_, table)| table).collect();
        return io::stdout().write_all(text.join("\n").as_bytes());
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(&page)?;
    let missing = || io::Error::other("the page has no place for a table");
    std::fs::write(&page, scale::with_tables(&text, &tables).ok_or_else(missing)?)
}
