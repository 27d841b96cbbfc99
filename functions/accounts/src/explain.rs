//! `explain_key`: the authorizer's decision with its reason, which clients do not see. The response never contains the key.

use common::auth::{ApiKey, Decision, KeyRecord, MalformedKey, Refusal, Tier, decide};
use gateway::Plan;
use serde::{Deserialize, Serialize};

use crate::access::{Access, now};
use crate::error::Error;
use crate::response::Response;
use crate::view::{AccountView, KeyView, reason};

/// The state of the key in API Gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InGateway {
    /// The key is in the usage plan of the account's tier.
    Good,
    /// The key is in the usage plan of another tier.
    OtherPlan,
    /// The key is in no usage plan of the stack.
    NoPlan,
    Disabled,
    Missing,
}

impl InGateway {
    /// Returns the problem, if there is one, and whether API Gateway accepts the key nevertheless.
    #[must_use]
    pub const fn problem(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Good => None,
            Self::OtherPlan => Some(("the API Gateway key is in the usage plan of another tier", true)),
            Self::NoPlan => Some(("the API Gateway key is in no usage plan of the stack", false)),
            Self::Disabled => Some(("the API Gateway key is disabled", false)),
            Self::Missing => Some(("API Gateway does not have the key", false)),
        }
    }
}

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
    /// `None` without API Gateway, or if the key is unknown or malformed.
    pub gateway: Option<InGateway>,
}

impl Explanation {
    /// The explanation of a text that cannot be a key.
    #[must_use]
    pub fn of_malformed(malformed: MalformedKey) -> Self {
        Self::of(&Decision::Refuse(Refusal::Malformed(malformed)), None)
    }

    fn of(decision: &Decision, gateway: Option<InGateway>) -> Self {
        // API Gateway calls the authorizer first, and looks up its own key only if the authorizer allows the request.
        let (status, reason) = match (decision, gateway.and_then(InGateway::problem)) {
            (Decision::Allow { .. }, Some((problem, false))) => (401, Some(problem.to_owned())),
            (Decision::Allow { .. }, _) => (200, None),
            (Decision::Deny(_), _) => (403, reason(decision)),
            (Decision::Refuse(_), _) => (401, reason(decision)),
        };
        Self { allowed: reason.is_none(), status, reason, key: None, account: None, gateway }
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
    let account = access.account(&record.account).await?;
    let tier = account.as_ref().map(|account| account.subscription.tier);
    let gateway = in_gateway(access, &record, tier).await?;
    let explanation = Explanation {
        key: Some(KeyView::at(now(), &record)),
        account: account.as_ref().map(|account| AccountView::at(now(), account)),
        ..Explanation::of(&decide(Some(&record), account.as_ref(), now()), gateway)
    };
    Ok(Response::of(&explanation)?.about_key(&record.account, &record.id()))
}

async fn in_gateway(
    access: &Access,
    record: &KeyRecord,
    tier: Option<Tier>,
) -> Result<Option<InGateway>, Error> {
    let Some(gateway) = &access.gateway else { return Ok(None) };
    let Some(key) = gateway.find(&record.id()).await? else { return Ok(Some(InGateway::Missing)) };
    let plan = gateway.plan_of(&key).await?;
    Ok(Some(match (plan, tier) {
        _ if !key.enabled => InGateway::Disabled,
        (Plan::None, _) => InGateway::NoPlan,
        (Plan::Of(plan), Some(tier)) if plan != tier => InGateway::OtherPlan,
        (Plan::Of(_), _) => InGateway::Good,
    }))
}
