//! Marks the tests that need captures as ignored where captures are absent.

fn main() -> std::io::Result<()> {
    captures::set_cfg()
}
