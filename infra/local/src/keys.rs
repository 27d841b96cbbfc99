//! The initial API keys: one for each tier, one of an account that is not paid for, and a revoked one. The keys are the same at every
//! start. They are not secret, because they are valid only in the local cloud.

use std::fmt::Display;
use std::time::Duration;

use common::auth::{
    Account, AccountName, ApiKey, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus, Tier,
};
use common::time::UnixSeconds;
use tables::access::{AccountRecord, Change, KeyChange, ValidKey};
use tables::{Table, access};

use crate::dynamodb::DynamoDb;
use crate::error::Error;

/// The logical id of the table with the keys.
pub(crate) const TABLE: &str = "Access";

/// 2025-01-01, and a month later.
const CREATED_AT: UnixSeconds = UnixSeconds::new(1_735_689_600);
const ENDED_AT: UnixSeconds = UnixSeconds::new(1_738_368_000);
/// 2200-01-01.
const PAID_UNTIL: UnixSeconds = UnixSeconds::new(7_258_118_400);
/// The timeout for storing all keys, which takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The initial keys. `Debug` does not show them; [`ApiKey::expose`] does.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The key of an account with a paid subscription to the tier starter.
    pub starter: ApiKey,
    /// The key of an account with a paid subscription to the tier pro.
    pub pro: ApiKey,
    /// The key of an account whose subscription has lapsed.
    pub lapsed: ApiKey,
    /// A revoked key of an account with a paid subscription.
    pub revoked: ApiKey,
}

impl Keys {
    #[must_use]
    pub fn named(&self) -> [(&'static str, &ApiKey); 4] {
        [("starter", &self.starter), ("pro", &self.pro), ("lapsed", &self.lapsed), ("revoked", &self.revoked)]
    }

    fn new() -> Option<Self> {
        let key = |name: &str| ApiKey::of_random_part(&format!("{name:0<32}"));
        Some(Self {
            starter: key("LocalCloudStarter")?,
            pro: key("LocalCloudPro")?,
            lapsed: key("LocalCloudLapsed")?,
            revoked: key("LocalCloudRevoked")?,
        })
    }
}

/// Stores the initial keys in the table and returns them. Existing rows stay unchanged, because they may have been edited.
///
/// # Errors
/// When the database fails.
pub(crate) async fn seed(dynamodb: &DynamoDb, table: &str) -> Result<Keys, Error> {
    let failed = |reason: &dyn Display| Error::new(format!("the initial keys cannot be stored: {reason}"));
    let keys = Keys::new().ok_or_else(|| failed(&"one is malformed"))?;
    let access_table = Table::of_sdk(&dynamodb.sdk(), table);
    let session = access_table.with_timeout(TIMEOUT);
    for (name, key) in keys.named() {
        let change = initial(name, key).ok_or_else(|| failed(&format!("{name} is not a valid name")))?;
        access::apply(session, None, &change).await.map_err(|error| failed(&error))?;
    }
    Ok(keys)
}

/// The key and its account; `None` if the name is not valid.
fn initial(name: &str, key: &ApiKey) -> Option<Change> {
    let account: AccountName = format!("local-{name}").parse().ok()?;
    let label: Label = "made by the local cloud".parse().ok()?;
    let subscription = Subscription {
        tier: if name == Tier::Starter.name() { Tier::Starter } else { Tier::Pro },
        status: SubscriptionStatus::Active,
        paid_until: if name == "lapsed" { ENDED_AT } else { PAID_UNTIL },
    };
    let key = KeyRecord {
        digest: key.digest(),
        account: account.clone(),
        label: label.clone(),
        created_at: CREATED_AT,
        last_four: key.last_four().to_owned(),
        state: if name == "revoked" { KeyState::Revoked { at: ENDED_AT } } else { KeyState::Issued },
        expires_at: None,
    };
    let account = Account { name: account, subscription, gateway_keys: [].into() };
    let mut account = AccountRecord::new(account, CREATED_AT);
    if key.state == KeyState::Issued {
        account.keys.insert(key.id(), ValidKey { label, expires_at: None });
    }
    Some(Change { account, keys: vec![KeyChange { before: None, after: key }], request: None })
}
