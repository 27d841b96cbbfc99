//! The Lambda binary of `auctions`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions::Auctions>()
}
