//! The Lambda binary of `bazaar-history`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<bazaar_history::BazaarHistory>()
}
