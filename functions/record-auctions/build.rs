//! Sets `cfg(captures)` if the captures are present: without them, the tests that need them are ignored.

fn main() -> std::io::Result<()> {
    captures::set_cfg()
}
