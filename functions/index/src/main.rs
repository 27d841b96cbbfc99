//! The Lambda binary of `index`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<index::Index>()
}
