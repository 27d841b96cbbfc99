//! Says whether a key may ask: two reads, of the key and of its account, and none for a few seconds after that. What is
//! remembered is what the table says, not the decision: that is made anew for the time of each request.

use std::error::Error as StandardError;
use std::time::Duration;

use common::auth::{Account, ApiKey, Decision, KeyDigest, KeyRecord, decide};
use common::cache::{Cached, Weight};
use common::config::Config;
use common::invocation::Invocation;
use common::lambda::{Authorizer, StartError};
use common::time::UnixSeconds;
use tables::{Error, Table, access};

/// How long an instance believes what it has read. The gateway remembers the answer for a minute besides: a revoked key is
/// refused after 65 seconds, or as much later as the table took to answer.
const BELIEVED_FOR: Duration = Duration::from_secs(5);

/// Room for about 4,000 keys; who sends more unknown ones within seconds pushes out their own.
const CAPACITY_BYTES: usize = 2 * 1024 * 1024;
/// What a key and its account take, roughly: a few short texts.
const RECORD_BYTES: usize = 400;

/// What the table says about a key.
#[derive(Debug, Clone, Default)]
struct Known {
    key: Option<KeyRecord>,
    account: Option<Account>,
}

impl Weight for Known {
    fn bytes(&self) -> usize {
        if self.key.is_some() { RECORD_BYTES } else { 0 }
    }
}

/// Decides by the table of accounts and keys.
#[derive(Debug)]
pub struct KeyAuthorizer {
    table: Table,
    known: Cached<KeyDigest, Known, Error>,
}

impl KeyAuthorizer {
    async fn read(&self, digest: &KeyDigest, invocation: &Invocation) -> Result<Known, Error> {
        let deadline = invocation.upstream_deadline();
        let Some(key) = access::key_of_digest(&self.table, digest, deadline).await? else {
            return Ok(Known::default());
        };
        let account = access::account(&self.table, &key.account, deadline).await?;
        Ok(Known { key: Some(key), account })
    }
}

impl Authorizer for KeyAuthorizer {
    const NAME: &'static str = "authorizer";

    fn new(config: &Config) -> Result<Self, StartError> {
        // Never stale: when the table cannot be asked, nobody gets in by what was true some time ago.
        let known = Cached::new(BELIEVED_FOR, CAPACITY_BYTES).never_stale();
        Ok(Self { table: Table::access(config)?, known })
    }

    async fn warm_up(&self) {
        self.table.warm_up().await;
    }

    async fn decide(
        &self,
        key: &ApiKey,
        invocation: &Invocation,
    ) -> Result<Decision, Box<dyn StandardError + Send + Sync>> {
        let digest = key.digest();
        let read = async || invocation.waiting_for(self.read(&digest, invocation)).await;
        let known = self.known.get(digest, invocation.now(), read).await?.value;
        Ok(decide(known.key.as_ref(), known.account.as_ref(), UnixSeconds::from(invocation.now())))
    }
}
