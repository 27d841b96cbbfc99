//! The handlers that two routes with recorded data share.

mod candle_pages;
mod history_list;

pub use self::candle_pages::{CandlePages, CandlePagesHandler, not_before};
pub use self::history_list::{HistoryList, HistoryListHandler};
