//! The real captures of the provider's answers. They stand beside the repository, in `../shared/upstream/data`, and not
//! in it: whoever has only the repository tests and measures with the simulator.

use std::path::PathBuf;

/// The folder of the captures, if it is present.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = repository.join("../shared/upstream/data");
    folder.is_dir().then_some(folder)
}

/// The capture `name`, such as `bazaar/v2-20260428T1503Z.json`, if it is present.
#[must_use]
pub fn text(name: &str) -> Option<String> {
    std::fs::read_to_string(folder()?.join(name)).ok()
}
