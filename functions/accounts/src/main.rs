//! The Lambda binary of `accounts`.

fn main() -> Result<(), common::lambda::Error> {
    accounts::run()
}
