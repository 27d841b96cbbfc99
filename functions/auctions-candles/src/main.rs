//! The Lambda binary of `auctions-candles`.

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<handlers::CandlePagesHandler<auctions_candles::AuctionsCandles>>()
}
