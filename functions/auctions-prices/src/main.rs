//! The Lambda binary of `auctions-prices`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions_prices::AuctionsPrices>()
}
