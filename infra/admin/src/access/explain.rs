//! `key explain`: the authorizer's decision, with its reason, which callers are not told. The key goes nowhere: neither
//! into an answer nor into an error.

use std::process::ExitCode;

use common::auth::{ApiKey, Decision, KeyRecord, Refusal, Tier, decide};
use serde::Serialize;

use super::view::{AccountView, KeyView, key_lines, yes_or_no};
use super::{Access, Place, now, quoted};
use crate::answer::{table, write};
use crate::console::Console;
use crate::error::Error;
use crate::gateway::Plan;
use crate::standard_input;

/// The argument that stands for standard input.
const STANDARD: &str = "-";

/// What API Gateway has for the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum InGateway {
    /// Everything it should have.
    Good,
    /// It counts under another tier than the account pays for.
    OtherPlan,
    /// It is in no plan of the stack.
    NoPlan,
    /// Somebody has switched it off.
    Disabled,
    Missing,
}

impl InGateway {
    /// What is wrong with it, and whether the key can be used nevertheless.
    const fn fault(self) -> Option<(&'static str, bool)> {
        match self {
            Self::Good => None,
            Self::OtherPlan => Some(("its API Gateway key is in the usage plan of another tier", true)),
            Self::NoPlan => Some(("its API Gateway key is in no usage plan of the stack", false)),
            Self::Disabled => Some(("its API Gateway key is disabled", false)),
            Self::Missing => Some(("API Gateway does not know it", false)),
        }
    }
}

/// What is known, as a JSON document.
#[derive(Serialize)]
struct Document<'a> {
    may_ask: bool,
    /// What callers get: 200, 401 or 403.
    status: u16,
    /// Why it may not ask.
    reason: Option<String>,
    key: Option<KeyView<'a>>,
    account: Option<AccountView<'a>>,
    /// Nothing where API Gateway was not asked.
    gateway: Option<InGateway>,
}

/// Explains the key.
///
/// # Errors
/// If it cannot be found out.
pub(super) async fn run(place: &Place, key: String, console: &Console) -> Result<ExitCode, Error> {
    let key = if key == STANDARD { standard_input::key(console).await? } else { key };
    let (access, record, account, decision) = match standard_input::trimmed(&key).parse::<ApiKey>() {
        Err(malformed) => (None, None, None, Decision::Refuse(Refusal::Malformed(malformed))),
        Ok(key) => {
            let access = place.open().await?;
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
    let (status, refused) = match &decision {
        Decision::Allow { .. } => (200, None),
        Decision::Deny(reason) => (403, Some(reason.to_string())),
        Decision::Refuse(reason) => (401, Some(reason.to_string())),
    };
    // The authorizer is asked first, and the gateway only looks for what it allows.
    let fault = gateway.and_then(InGateway::fault);
    let (status, refused) = match fault {
        Some((fault, false)) if refused.is_none() => (401, Some(fault.to_owned())),
        _ => (status, refused),
    };
    let document = Document {
        may_ask: refused.is_none(),
        status,
        reason: refused.clone(),
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
            let fault = fault.map_or("it is in the usage plan of its tier", |(fault, _)| fault);
            lines.push(["gateway".to_owned(), fault.to_owned()]);
        }
        lines.push(["callers get".to_owned(), status.to_string()]);
        lines.push(["may ask".to_owned(), yes_or_no(refused.as_deref())]);
        table(None, lines)
    };
    write(place.format(), text, &document)?;
    if let (Some(access), Some(record), Some(mendable)) = (&access, &record, gateway) {
        advise(access, record, &decision, mendable, console);
    }
    Ok(if document.may_ask { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn in_gateway(
    access: &Access,
    record: &KeyRecord,
    tier: Option<Tier>,
) -> Result<Option<InGateway>, Error> {
    let Some(gateway) = &access.gateway else { return Ok(None) };
    let Some(known) = gateway.find(&record.id()).await? else { return Ok(Some(InGateway::Missing)) };
    let plan = gateway.plan_of(&known).await?;
    Ok(Some(match (plan, tier) {
        _ if !known.enabled => InGateway::Disabled,
        (Plan::None, _) => InGateway::NoPlan,
        (Plan::Of(plan), Some(tier)) if plan != tier => InGateway::OtherPlan,
        (Plan::Of(_), _) => InGateway::Good,
    }))
}

/// Says how what API Gateway has is put right.
fn advise(access: &Access, record: &KeyRecord, decision: &Decision, found: InGateway, console: &Console) {
    let is_issued = matches!(decision, Decision::Allow { .. } | Decision::Deny(_));
    match found {
        InGateway::Missing | InGateway::NoPlan | InGateway::OtherPlan if is_issued => {
            let label = quoted(record.label.as_str());
            let command = access.command(&format!("key issue {} --label {label}", record.account));
            console.say(format_args!("this puts it right: {command}"));
        }
        InGateway::Disabled if is_issued => {
            console.say("somebody has switched it off in API Gateway; switch it on there");
        }
        _ => {}
    }
}
