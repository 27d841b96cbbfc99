//! The rows of a key and its account, cached for a few seconds. Decisions are not cached, because they depend
//! on the time of the request.

use std::time::Duration;

use common::auth::{Account, ApiKey, Decision, KeyDigest, KeyRecord, decide};
use common::cache::{Cache, Failure, Weight};
use common::config::Config;
use common::invocation::Invocation;
use common::lambda::StartError;
use tables::{Error, Table, access};

/// The TTL of the rows of a key. The gateway then caches the policy for a minute, so a revoked key is refused
/// after at most 65 seconds, plus the response time of the table.
const TTL: Duration = Duration::from_secs(5);

/// Room for 4,000 keys of accounts without subscriptions, or 800 of accounts with one. Unknown keys take
/// hardly any space.
const CAPACITY_BYTES: usize = 2 * 1024 * 1024;
/// The approximate size of a key and its account without subscriptions: a few short texts.
const RECORD_BYTES: usize = 400;
/// The approximate size of a subscription: three maps of periods.
const SUBSCRIPTION_BYTES: usize = 2_000;

/// The rows of a key and of its account, if they exist.
#[derive(Debug, Clone, Default)]
struct Records {
    key: Option<KeyRecord>,
    account: Option<Account>,
}

impl Weight for Records {
    fn bytes(&self) -> usize {
        let subscriptions = self.account.as_ref().map_or(0, |account| account.subscriptions.len());
        if self.key.is_some() { RECORD_BYTES + subscriptions * SUBSCRIPTION_BYTES } else { 0 }
    }
}

/// The table of accounts and keys with a cache in front of it.
#[derive(Debug)]
pub(crate) struct KeyRecords {
    table: Table,
    cache: Cache<KeyDigest, Records>,
}

impl KeyRecords {
    pub(crate) fn new(config: &Config) -> Result<Self, StartError> {
        // Never stale: if the table cannot be read, old rows must not allow a request.
        Ok(Self { table: Table::access(config)?, cache: Cache::new(TTL, CAPACITY_BYTES).never_stale() })
    }

    /// Opens a connection while the function starts.
    pub(crate) async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    /// Decides about a request with `key`.
    pub(crate) async fn decide(
        &self,
        key: &ApiKey,
        invocation: &Invocation,
    ) -> Result<Decision, Failure<Error>> {
        let digest = key.digest();
        let fetch = async || self.read(&digest, invocation).await;
        let Records { key, account } = self.cache.get(digest, invocation, fetch).await?.value;
        Ok(decide(key.as_ref(), account.as_ref(), invocation.now().into()))
    }

    async fn read(&self, digest: &KeyDigest, invocation: &Invocation) -> Result<Records, Error> {
        let table = self.table.during(invocation);
        let Some(key) = access::key_of_digest(table, digest).await? else {
            return Ok(Records::default());
        };
        let account = access::account(table, &key.account).await?;
        Ok(Records { key: Some(key), account: account.map(|record| record.account) })
    }
}
