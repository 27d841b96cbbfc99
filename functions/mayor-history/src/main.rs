//! The Lambda binary of `mayor-history`.

use tables::Listing;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<Listing<mayor_history::MayorHistory>>().await
}
