//! The service's tables in DynamoDB. This crate is separate from `common`, so that functions without a table do not link the
//! AWS SDK. A feature of `common` would not achieve this, because cargo unifies the features of the crates that it builds
//! together.

pub mod access;
pub mod auctions;
pub mod bazaar;
mod candle_pages;
mod client;
pub mod connector;
mod error;
pub mod feed;
mod filing;
pub mod heartbeat;
pub mod history;
mod history_list;
mod item;
mod operation;
mod raw_query;
mod recorder;
mod row;
pub mod series;
mod session;
mod table;

pub use aws_config::SdkConfig;

pub use self::candle_pages::{CandlePages, CandlePagesHandler};
pub use self::client::{ProfileError, from_profile, is_empty_variable};
pub use self::error::{Error, ResponseError, cause};
pub use self::filing::{Filing, Ticks};
pub use self::history_list::{HistoryList, HistoryListHandler};
pub use self::item::Attributes;
pub use self::recorder::{Effect, Recorder, RowsRead, fetching_deadline, repeat, run_recorder};
pub use self::session::Session;
pub use self::table::Table;
