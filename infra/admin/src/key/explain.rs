//! `key explain`: the decision of the authorizer with its reason, which clients do not see. No output repeats the key.

use std::process::ExitCode;

use common::auth::{ApiKey, Decision, KeyRecord, Refusal, Tier, decide};
use serde::Serialize;

use crate::access::options::AccessOptions;
use crate::access::view::{AccountView, KeyView, key_lines, yes_or_no};
use crate::access::{Access, quoted};
use crate::arguments::STANDARD_STREAM;
use crate::clock::now;
use crate::console;
use crate::error::Error;
use crate::gateway::Plan;
use crate::key_input;
use crate::output::{table, write};

/// The state of the key in API Gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum InGateway {
    /// It is in the usage plan of its tier.
    Good,
    /// It is in the usage plan of another tier.
    OtherPlan,
    /// It is in no usage plan of the stack.
    NoPlan,
    Disabled,
    Missing,
}

impl InGateway {
    /// The problem, and whether API Gateway accepts the key in spite of it.
    const fn problem(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Good => None,
            Self::OtherPlan => Some(("the API Gateway key is in the usage plan of another tier", true)),
            Self::NoPlan => Some(("the API Gateway key is in no usage plan of the stack", false)),
            Self::Disabled => Some(("the API Gateway key is disabled", false)),
            Self::Missing => Some(("API Gateway does not have the key", false)),
        }
    }
}

/// The explanation as a JSON document.
#[derive(Serialize)]
struct Explanation<'a> {
    allowed: bool,
    /// The status that clients get: 200, 401 or 403.
    status: u16,
    /// Why the key is rejected.
    reason: Option<String>,
    key: Option<KeyView<'a>>,
    account: Option<AccountView<'a>>,
    /// `None` without a stack.
    gateway: Option<InGateway>,
}

/// Explains the key.
///
/// # Errors
/// If the table or AWS cannot be reached.
pub(super) async fn run(options: &AccessOptions, key: String) -> Result<ExitCode, Error> {
    let key = if key == STANDARD_STREAM { key_input::read_standard_input().await? } else { key };
    let (access, record, account, decision) = match key_input::trim(&key).parse::<ApiKey>() {
        Err(malformed) => (None, None, None, Decision::Refuse(Refusal::Malformed(malformed))),
        Ok(key) => {
            let access = options.open().await?;
            let record = tables::access::key_of_digest(access.table(), &key.digest()).await?;
            let account = match &record {
                Some(record) => access.account(&record.account).await?,
                None => None,
            };
            let decision = decide(record.as_ref(), account.as_ref(), now());
            (Some(access), record, account, decision)
        }
    };
    let gateway = match (&access, &record) {
        (Some(access), Some(record)) => {
            let tier = account.as_ref().map(|account| account.subscription.tier);
            in_gateway(access, record, tier).await?
        }
        _ => None,
    };
    let problem = gateway.and_then(InGateway::problem);
    // API Gateway calls the authorizer first, and looks for its key only if the authorizer allows the request.
    let (status, reason) = match (&decision, problem) {
        (Decision::Allow { .. }, Some((problem, false))) => (401, Some(problem.to_owned())),
        (Decision::Allow { .. }, _) => (200, None),
        (Decision::Deny(reason), _) => (403, Some(reason.to_string())),
        (Decision::Refuse(reason), _) => (401, Some(reason.to_string())),
    };
    let document = Explanation {
        allowed: reason.is_none(),
        status,
        reason: reason.clone(),
        key: record.as_ref().map(KeyView::from),
        account: account.as_ref().map(|account| AccountView::at(now(), account)),
        gateway,
    };
    let text = || {
        let mut lines = record.as_ref().map(key_lines).unwrap_or_default();
        if let Some(account) = &account {
            lines.push(["tier".to_owned(), account.subscription.tier.to_string()]);
            lines.push(["paid until".to_owned(), account.subscription.paid_until.to_string()]);
        }
        if gateway.is_some() {
            let state = problem.map_or("the key is in the usage plan of its tier", |(problem, _)| problem);
            lines.push(["gateway".to_owned(), state.to_owned()]);
        }
        lines.push(["status".to_owned(), status.to_string()]);
        lines.push(["allowed".to_owned(), yes_or_no(reason.as_deref())]);
        table(None, lines)
    };
    write(options.format(), text, &document)?;
    if let (Some(access), Some(record), Some(found)) = (&access, &record, gateway) {
        advise(access, record, &decision, found);
    }
    Ok(if document.allowed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

/// Prints how to correct the state of the key in API Gateway.
fn advise(access: &Access, record: &KeyRecord, decision: &Decision, found: InGateway) {
    let is_issued = matches!(decision, Decision::Allow { .. } | Decision::Deny(_));
    match found {
        InGateway::Missing | InGateway::NoPlan | InGateway::OtherPlan if is_issued => {
            let label = quoted(record.label.as_str());
            let command = access.command(&format!("key issue {} --label {label}", record.account));
            console::print(format_args!("to correct this, run: {command}"));
        }
        InGateway::Disabled if is_issued => {
            console::print("the key was disabled in API Gateway; enable it there");
        }
        _ => {}
    }
}
