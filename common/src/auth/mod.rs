//! Who may ask: API keys, the accounts that pay for them, and the decision. Where they are kept is another crate's matter,
//! so that the decision can be looked at, and tested, as the pure function that it is.

mod account;
mod decision;
mod key;

pub use self::account::{Account, AccountName, InvalidAccountName, Subscription, SubscriptionStatus, Tier};
pub use self::decision::{Decision, Inactive, Refusal, decide};
pub use self::key::{
    ApiKey, InvalidKeyDigest, InvalidKeyId, InvalidLabel, KEY_PREFIX, KeyDigest, KeyId, KeyRecord, KeyState,
    Label, MalformedKey, without_keys,
};
