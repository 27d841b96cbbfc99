//! The Lambda binary of `mayor-history`.

use tables::HistoryListHandler;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<HistoryListHandler<mayor_history::MayorHistory>>().await
}
