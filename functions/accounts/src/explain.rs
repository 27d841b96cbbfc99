//! `explain_key`: the authorizer's decision with its reason, which clients do not see. The response never
//! contains the key.

use common::auth::{ApiKey, Decision, MalformedKey, Refusal, decide};
use common::time::now;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::error::Error;
use crate::response::Response;
use crate::view::{AccountView, KeyView, reason};

/// Whether the service accepts a key.
#[derive(Debug, Serialize, Deserialize)]
pub struct Explanation {
    pub allowed: bool,
    /// The HTTP status that clients receive: 200, 401 or 403.
    pub status: u16,
    /// Why the key is rejected.
    pub reason: Option<String>,
    pub key: Option<KeyView>,
    pub account: Option<AccountView>,
}

impl Explanation {
    /// The explanation of a text that cannot be a key.
    #[must_use]
    pub fn of_malformed(malformed: MalformedKey) -> Self {
        Self::of(&Decision::Refuse(Refusal::Malformed(malformed)), None)
    }

    fn of(decision: &Decision, account: Option<AccountView>) -> Self {
        let waits = account.as_ref().and_then(|account| account.usable_from);
        let other_reason = account.as_ref().and_then(|account| account.reason.clone());
        let (status, reason) = match (decision, waits) {
            (Decision::Allow { .. }, _) if other_reason.is_some() => (401, other_reason),
            (Decision::Allow { .. }, Some(at)) => {
                (401, Some(format!("the account is new, and API Gateway may refuse it until {at}")))
            }
            (Decision::Allow { .. }, None) => (200, None),
            (Decision::Deny(_), _) => (403, reason(decision)),
            (Decision::Refuse(_), _) => (401, reason(decision)),
        };
        Self { allowed: reason.is_none(), status, reason, key: None, account }
    }
}

pub(crate) async fn run(access: &Access, key: &str) -> Result<Response, Error> {
    let key = match key.parse::<ApiKey>() {
        Err(malformed) => return Response::of(&Explanation::of_malformed(malformed)),
        Ok(key) => key,
    };
    let Some(record) = tables::access::key_of_digest(access.table(), &key.digest()).await? else {
        return Response::of(&Explanation::of(&Decision::Refuse(Refusal::Unknown), None));
    };
    let account = access.account(&record.account).await?.map(|record| record.account);
    let decision = decide(Some(&record), account.as_ref(), now());
    let view = account.as_ref().map(|account| AccountView::at(now(), account, &access.limits));
    let explanation =
        Explanation { key: Some(KeyView::at(now(), &record)), ..Explanation::of(&decision, view) };
    Ok(Response::of(&explanation)?.about_key(&record.account, &record.id()))
}
