//! Sets `cfg(captures)` if captures are present. Without them, the tests that need them are ignored.

fn main() -> std::io::Result<()> {
    captures::set_cfg()
}
