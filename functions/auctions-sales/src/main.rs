//! The Lambda binary of `auctions-sales`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<auctions_sales::AuctionsSales>()
}
