//! The Lambda binary of `bazaar`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar::Bazaar>()
}
