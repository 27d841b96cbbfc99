//! Sets `cfg(chromium)` if Chromium is installed. Without this `cfg`, the tests are ignored.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "cargo::rustc-check-cfg=cfg(chromium)")?;
    let folders = env::var_os("PATH").unwrap_or_default();
    // The headless shell draws no toolbars or menus, and takes two thirds of Chromium's processor time.
    let names = ["chromium-headless-shell", "chromium"];
    let program = names
        .iter()
        .flat_map(|name| env::split_paths(&folders).map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    let name = program.as_deref().unwrap_or(Path::new("chromium"));
    writeln!(output, "cargo::rustc-env=CHROMIUM={}", name.display())?;
    match &program {
        Some(program) => {
            writeln!(output, "cargo::rustc-cfg=chromium")?;
            writeln!(output, "cargo::rerun-if-changed={}", program.display())
        }
        // Cargo does not notice if Chromium is installed later; .ci/run does.
        None => writeln!(output, "cargo::rerun-if-changed=build.rs"),
    }
}
