//! The Lambda binary of `usage`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<usage::AccountUsage>()
}
