//! What the service keeps in DynamoDB. A crate of its own, and not a part of `common`, because cargo unites the features
//! of what it builds together: only so is it certain that a function without a table does not link the AWS SDK.

pub mod access;
mod client;
mod connector;
pub mod history;
mod item;
mod listing;
mod recording;
mod table;

pub use aws_config::SdkConfig;

pub use self::client::{ProfileError, from_profile, is_empty_variable, is_on_this_machine};
pub use self::listing::{Listable, Listing};
pub use self::recording::{Recordable, Recording};
pub use self::table::{Error, Table, cause};
