//! The Lambda binary of `payments`.

fn main() -> Result<(), common::lambda::Error> {
    payments::run()
}
