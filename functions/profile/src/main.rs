//! The Lambda binary of `profile`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<profile::Profiles>()
}
