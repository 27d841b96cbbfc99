//! The Lambda binary of `page`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<page::Pages>()
}
