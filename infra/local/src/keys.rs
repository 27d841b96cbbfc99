//! The initial API keys, one for each state of a key and its account. They are the same at every start. They are not
//! secret, because they are valid in the local cloud only.

use std::time::Duration;

use common::auth::{
    Account, AccountName, ApiKey, KeyRecord, KeyState, Label, Subscription, SubscriptionStatus, Tier,
};
use common::time::UnixSeconds;
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
    /// Of an account with a paid subscription to the tier starter.
    pub starter: ApiKey,
    /// Of an account with a paid subscription to the tier pro.
    pub pro: ApiKey,
    /// Of an account whose subscription has lapsed.
    pub lapsed: ApiKey,
    /// A revoked key of an account with a paid subscription.
    pub revoked: ApiKey,
}

impl Keys {
    /// All keys with their names.
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

/// Stores the initial keys in the table and returns them. Existing rows stay as they are: they may have been changed.
///
/// # Errors
/// When the database fails.
pub(crate) async fn seed(dynamodb: &DynamoDb, table: &str) -> Result<Keys, Error> {
    let failed = |error: tables::Error| Error::Keys(error.to_string());
    let keys = Keys::new().ok_or_else(|| Error::Keys("one is malformed".to_owned()))?;
    let table = Table::of_sdk(&dynamodb.sdk(), table);
    let table = table.with_timeout(TIMEOUT);
    for (name, key) in keys.named() {
        let (account, record) =
            records(name, key).ok_or_else(|| Error::Keys(format!("{name} is not a valid name")))?;
        access::replace_account(table, None, &account).await.map_err(failed)?;
        access::put_key(table, &record).await.map_err(failed)?;
    }
    Ok(keys)
}

/// The rows of the key and its account; `None` if the name is not valid.
fn records(name: &str, key: &ApiKey) -> Option<(Account, KeyRecord)> {
    let account: AccountName = format!("local-{name}").parse().ok()?;
    let label: Label = "made by the local cloud".parse().ok()?;
    let subscription = Subscription {
        tier: if name == Tier::Starter.name() { Tier::Starter } else { Tier::Pro },
        status: SubscriptionStatus::Active,
        paid_until: if name == "lapsed" { ENDED_AT } else { PAID_UNTIL },
    };
    let record = KeyRecord {
        digest: key.digest(),
        account: account.clone(),
        label,
        created_at: CREATED_AT,
        last_four: key.last_four().to_owned(),
        state: if name == "revoked" { KeyState::Revoked { at: ENDED_AT } } else { KeyState::Issued },
    };
    Some((Account { name: account, subscription }, record))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use common::auth::{Decision, Refusal, decide};
    use simulator::Clock;
    use tokio::net::TcpListener;

    use super::*;
    use crate::template::Document;

    const NOW: UnixSeconds = UnixSeconds::new(1_795_273_510);

    /// A database with the deployed template's tables, in the folder or in memory.
    async fn database(data: Option<&Path>) -> DynamoDb {
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../template.yaml");
        let dashboard = BTreeMap::from([("DashboardUrl".to_owned(), "https://dashboard.example".to_owned())]);
        let template = Document::read(&template).unwrap().evaluate(&dashboard).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        DynamoDb::start(listener, data, false, &Clock::system(), template.tables.values()).unwrap()
    }

    async fn decisions(dynamodb: &DynamoDb, keys: &Keys) -> Vec<Decision> {
        let table = Table::of_sdk(&dynamodb.sdk(), TABLE);
        let table = table.with_timeout(TIMEOUT);
        let mut decisions = Vec::new();
        for (_, key) in keys.named() {
            let record = access::key_of_digest(table, &key.digest()).await.unwrap().unwrap();
            let account = access::account(table, &record.account).await.unwrap().unwrap();
            decisions.push(decide(Some(&record), Some(&account), NOW));
        }
        decisions
    }

    #[tokio::test]
    async fn the_keys_are_the_same_at_every_start_and_existing_rows_are_kept() {
        let folder = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("tmp/seeded-keys");
        let _ = std::fs::remove_dir_all(&folder);
        let dynamodb = database(Some(&folder)).await;
        let first = seed(&dynamodb, TABLE).await.unwrap();
        let table = Table::of_sdk(&dynamodb.sdk(), TABLE);
        let table = table.with_timeout(TIMEOUT);
        access::revoke_key(table, &first.pro.digest().id(), NOW).await.unwrap();
        drop(dynamodb);

        let dynamodb = database(Some(&folder)).await;
        let again = seed(&dynamodb, TABLE).await.unwrap();
        for ((name, one), (_, other)) in first.named().into_iter().zip(again.named()) {
            assert_eq!(one.expose(), other.expose(), "{name}");
        }
        let decisions = decisions(&dynamodb, &again).await;
        assert!(matches!(&decisions[1], Decision::Refuse(Refusal::Revoked { .. })), "{decisions:?}");
        assert!(matches!(&decisions[0], Decision::Allow { .. }), "{decisions:?}");
    }
}
