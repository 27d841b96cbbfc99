//! The `cargo admin` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    admin::run()
}
