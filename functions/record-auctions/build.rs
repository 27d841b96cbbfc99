//! Sets `cfg(captures)` if the captures are present. Otherwise, tests that need captures are ignored.

fn main() -> std::io::Result<()> {
    captures::set_cfg()
}
