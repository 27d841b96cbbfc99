//! The keys of API Gateway. API Gateway counts requests per key, so each account has one of its keys for each
//! tier that the account has had, in the usage plan of this tier; all keys of the account that the service
//! issues share it. The authorizer returns the key's value ([`common::auth::UsageIdentifier`]). The name of
//! the key is the name of the stack, `-` and this value, so it tells nothing about a person.

mod keys;
mod operations;
mod usage;

pub use self::keys::Gateway;
pub use self::usage::{DayUsage, Limits, PlanLimits, Usage, UsageError};
