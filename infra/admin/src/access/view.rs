//! Accounts and keys as text for people.

use std::fmt::Display;

use accounts::{AccountView, KeyView, State, SubscriptionView};

use crate::output::table;

pub(crate) fn account(account: &AccountView) -> String {
    let mut lines = vec![
        ["account".to_owned(), account.name.to_string()],
        ["tier".to_owned(), or_none(account.tier)],
        ["status".to_owned(), account.status.to_string()],
        ["paid until".to_owned(), or_none(account.paid_until)],
        ["allowed".to_owned(), yes_or_no(account.reason.as_deref())],
    ];
    lines.extend(account.usable_from.map(|from| ["usable from".to_owned(), from.to_string()]));
    lines.extend(account.subscriptions.iter().map(|of| ["subscription".to_owned(), subscription(of)]));
    table(None, lines)
}

fn subscription(of: &SubscriptionView) -> String {
    let (status, tier, paid_until) = (or_none(of.status), or_none(of.tier), or_none(of.paid_until));
    format!("{}: {status}, {tier} until {paid_until}", of.id)
}

pub(crate) fn or_none(value: Option<impl Display>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// `yes`, or `no` with the reason.
pub(crate) fn yes_or_no(reason: Option<&str>) -> String {
    reason.map_or_else(|| "yes".to_owned(), |reason| format!("no: {reason}"))
}

fn state(key: &KeyView) -> String {
    match (key.state, key.revoked_at, key.expires_at) {
        (State::Issued, _, None) => "issued".to_owned(),
        (State::Issued, _, Some(at)) => format!("issued until {at}"),
        (State::Revoked, at, _) => {
            at.map_or_else(|| "revoked".to_owned(), |at| format!("revoked since {at}"))
        }
    }
}

pub(crate) fn keys(keys: &[KeyView]) -> String {
    let row = |key: &KeyView| {
        [
            key.id.to_string(),
            key.label.to_string(),
            key.created_at.to_string(),
            key.last_four.clone(),
            state(key),
        ]
    };
    table(Some(["KEY-ID", "LABEL", "CREATED", "LAST FOUR", "STATE"]), keys.iter().map(row))
}

/// One key, with a line for each of its properties.
pub(crate) fn key_lines(key: &KeyView) -> Vec<[String; 2]> {
    vec![
        ["KEY-ID".to_owned(), key.id.to_string()],
        ["account".to_owned(), key.account.to_string()],
        ["label".to_owned(), key.label.to_string()],
        ["created".to_owned(), key.created_at.to_string()],
        ["last four".to_owned(), key.last_four.clone()],
        ["state".to_owned(), state(key)],
    ]
}
