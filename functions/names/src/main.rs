//! The Lambda binary of `names`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<names::ItemNames>()
}
