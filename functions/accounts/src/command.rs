//! The commands of the function (infra/README.md, Accounts and keys from a program).

use common::auth::{AccountName, KeyId, Label, SubscriptionStatus, Tier};
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use crate::rows::Row;

/// A command. Not `Debug`: it may hold a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Creates or changes an account. Absent values stay unchanged.
    SetAccount {
        account: AccountName,
        tier: Option<Tier>,
        status: Option<SubscriptionStatus>,
        paid_until: Option<UnixSeconds>,
    },
    GetAccount {
        account: AccountName,
    },
    IssueKey {
        account: AccountName,
        label: Label,
    },
    ListKeys {
        account: AccountName,
    },
    RevokeKey {
        key_id: KeyId,
    },
    /// Issues another key with the same label.
    ReplaceKey {
        key_id: KeyId,
        /// How long the replaced key stays valid: 0 to 604,800 seconds.
        grace_seconds: u32,
    },
    ExplainKey {
        key: String,
    },
    /// Returns a page of accounts and keys.
    ExportRows {
        /// `next` of the previous page; `None` for the first page.
        after: Option<String>,
    },
    /// Adds an account or a key without overwriting anything.
    ImportRow {
        row: Row,
        /// Other keys that may have the same label. The index of the table may not list them yet.
        others: Vec<KeyId>,
    },
    /// Adds issued keys to the usage plans of their accounts' tiers.
    AddToGateway {
        key_ids: Vec<KeyId>,
    },
}

impl Command {
    /// The account or key that the command names.
    #[must_use]
    pub fn subject(&self) -> (Option<AccountName>, Option<KeyId>) {
        match self {
            Self::SetAccount { account, .. }
            | Self::GetAccount { account }
            | Self::IssueKey { account, .. }
            | Self::ListKeys { account } => (Some(account.clone()), None),
            Self::RevokeKey { key_id } | Self::ReplaceKey { key_id, .. } => (None, Some(key_id.clone())),
            _ => (None, None),
        }
    }
}
