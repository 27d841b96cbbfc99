//! The Lambda binary of `auctions-averages`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions_averages::AuctionsAverages>()
}
