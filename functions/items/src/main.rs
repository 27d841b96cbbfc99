//! The Lambda binary of `items`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<items::Items>()
}
