//! The Lambda binary of `status`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<status::Status>()
}
