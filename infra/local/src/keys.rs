//! The initial API keys: one for each tier, one of an account that is not paid for, and a revoked one. The
//! keys are the same at every start. They are not secret, because they are valid only in the local cloud.

use std::fmt::Display;
use std::time::Duration;

use common::auth::{
    AccountName, ApiKey, GatewayKey, KeyRecord, KeyState, Label, PaidTier, Tier, UsageIdentifier,
};
use common::time::UnixSeconds;
use tables::access::{AccessRow, AccountRecord, Change, KeyChange, ValidKey};
use tables::{Session, Table, access};

use crate::arn::STACK;
use crate::dynamodb::DynamoDb;
use crate::error::Error;
use crate::gateway::api_keys::ApiKeys;

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

/// Stores the initial keys in the table and returns them. Existing rows stay unchanged, because they may have
/// been edited. Also registers the keys of API Gateway of all accounts in the table, because API Gateway does
/// not keep them between two runs.
pub(crate) async fn seed(dynamodb: &DynamoDb, table: &str, api_keys: &ApiKeys) -> Result<Keys, Error> {
    let failed = |reason: &dyn Display| Error::new(format!("the initial keys cannot be stored: {reason}"));
    let keys = Keys::new().ok_or_else(|| failed(&"one is malformed"))?;
    let access_table = Table::of_sdk(&dynamodb.sdk(), table);
    let session = access_table.with_timeout(TIMEOUT);
    for (name, key) in keys.named() {
        let change = initial(name, key).ok_or_else(|| failed(&format!("{name} is not a valid name")))?;
        access::apply(session, None, &change).await.map_err(|error| failed(&error))?;
    }
    let mut after = None;
    loop {
        let page = access::page(session, after).await.map_err(|error| failed(&error))?;
        for row in page.rows {
            if let Ok(AccessRow::Account(record)) = row {
                register(session, record, api_keys).await.map_err(|error| failed(&error))?;
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(keys);
        }
    }
}

/// Attaches the keys of the account to the usage plans of its tiers, and notes them in its row. A tier that
/// the template does not offer has none.
async fn register(
    session: Session<'_>,
    record: AccountRecord,
    api_keys: &ApiKeys,
) -> Result<(), tables::Error> {
    let mut account = record.clone();
    let mut tiers = account.account.tiers();
    tiers.extend(account.account.gateway_keys.keys());
    for tier in tiers {
        let value = UsageIdentifier::new(STACK, &account.account.name, tier);
        let name = format!("{STACK}-{}", value.as_str());
        if let Some(plan) = api_keys.plan(tier.name())
            && let Ok(id) = api_keys.attach(tier.name(), &name, value.as_str())
        {
            let key =
                GatewayKey { id, plan: plan.to_owned(), usable_from: CREATED_AT, is_being_deleted: false };
            account.account.gateway_keys.insert(tier, key);
        }
    }
    if account != record {
        access::apply(session, Some(&record), &Change::of(account)).await?;
    }
    Ok(())
}

/// The key and its account; `None` if the name is not valid.
fn initial(name: &str, key: &ApiKey) -> Option<Change> {
    let account: AccountName = format!("local-{name}").parse().ok()?;
    let label: Label = "made by the local cloud".parse().ok()?;
    let set_by_person = PaidTier {
        tier: if name == Tier::Starter.name() { Tier::Starter } else { Tier::Pro },
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
    let mut account = AccountRecord::new(account);
    account.account.set_by_person = Some(set_by_person);
    if key.state == KeyState::Issued {
        account.keys.insert(key.id(), ValidKey { label, expires_at: None });
    }
    Some(Change { keys: vec![KeyChange { before: None, after: key }], ..Change::of(account) })
}
