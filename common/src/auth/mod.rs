//! API keys, the accounts that pay for them, and the decision whether a request is allowed. The records of
//! keys and accounts are read in another crate (`tables`), so the decision is a pure function.

mod account;
mod decision;
mod entitlement;
mod hexadecimal;
mod key;
mod record;
mod subscription;
mod text;

pub use self::account::{
    Account, AccountName, GatewayKey, InvalidAccountName, TooManySubscriptions, UsageIdentifier,
};
pub use self::decision::{Decision, Inactive, Refusal, decide};
pub use self::entitlement::{AccountStatus, Entitlement, PaidTier, Tier};
pub use self::key::{ApiKey, KEY_PREFIX, MalformedKey, without_keys};
pub use self::record::{
    InvalidKeyDigest, InvalidKeyId, InvalidLabel, KeyDigest, KeyId, KeyRecord, KeyState, Label,
};
pub use self::subscription::{
    BillingStatus, InvalidSubscriptionId, Period, State, Subscription, SubscriptionId,
};
pub use self::text::parse_unless_key;
