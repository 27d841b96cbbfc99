//! The service's tables in DynamoDB. This crate is separate from `common`, so that functions without a table
//! do not link the AWS SDK. A feature of `common` would not achieve this, because cargo unifies the features
//! of the crates that it builds together.

pub mod access;
pub mod auctions;
pub mod bazaar;
mod client;
pub mod connector;
mod error;
mod filing;
pub mod history;
pub mod item;
pub mod names;
mod operation;
mod raw_query;
mod row;
pub mod series;
mod session;
mod table;

pub use aws_config::SdkConfig;

pub use self::client::{ProfileError, from_profile, is_empty_variable};
pub use self::error::{Error, ResponseError, cause};
pub use self::filing::{Filing, Ticks};
pub use self::item::Attributes;
pub use self::session::{Reads, Session, if_unchanged};
pub use self::table::Table;
