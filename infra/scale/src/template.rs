//! The memory sizes in `template.yaml`. They are found by its indentation, so that no YAML parser is compiled; a test compares them
//! with what the local cloud reads there.

const TEMPLATE: &str = include_str!("../../../template.yaml");

/// The memory in MB of the function with this binary: its own, or else that of all functions.
pub(crate) fn memory_mb(binary: &str) -> Option<f64> {
    let (globals, resources) = TEMPLATE.split_once("\nResources:\n")?;
    let (_, rest) = resources.split_once(&format!(" Binary: {binary}\n"))?;
    // The next resource begins with two spaces.
    let mut of_function = rest.lines().take_while(|line| line.is_empty() || line.starts_with("   "));
    let size = |line: &str| line.trim().strip_prefix("MemorySize: ")?.parse().ok();
    of_function.find_map(size).or_else(|| globals.lines().find_map(size))
}
