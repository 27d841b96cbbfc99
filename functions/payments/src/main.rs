//! The Lambda binary of `payments`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<payments::Payments>()
}
