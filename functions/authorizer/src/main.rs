//! The Lambda binary of `authorizer`.

fn main() -> Result<(), common::lambda::Error> {
    authorizer::run()
}
