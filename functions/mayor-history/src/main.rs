//! The Lambda binary of `mayor-history`.

use handlers::HistoryListHandler;

fn main() -> Result<(), common::lambda::Error> {
    common::lambda::run::<HistoryListHandler<mayor_history::MayorHistory>>()
}
