//! The Lambda binary of `auctions-listings`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions_listings::AuctionsListings>()
}
