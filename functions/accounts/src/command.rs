//! The commands of the function (infra/README.md, Accounts and keys from a program).

use common::auth::{AccountName, AccountStatus, KeyId, Label, Tier};
use common::time::UnixSeconds;
use serde::{Deserialize, Serialize};

use crate::rows::Row;

/// A command. Not `Debug`: it may hold a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Creates or changes an account. Absent values stay unchanged. `tier` and `paid_until` are an entry
    /// beside the account's subscriptions, and `status` is above all entries.
    SetAccount {
        account: AccountName,
        tier: Option<Tier>,
        status: Option<AccountStatus>,
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
        /// The account to which the key must belong. Required by the function for keys.
        account: Option<AccountName>,
    },
    /// Issues another key with the same label.
    ReplaceKey {
        key_id: KeyId,
        /// As in `RevokeKey`.
        account: Option<AccountName>,
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
    /// Adds an account or a key without overwriting anything. An account must be added before its keys.
    ImportRow {
        row: Row,
    },
    /// Asks API Gateway what the account has used of its limits in this month.
    Usage {
        account: AccountName,
    },
    DeleteAccount {
        account: AccountName,
    },
    /// Deletes the keys in API Gateway of an account whose paid time ended 180 days ago.
    PruneAccount {
        account: AccountName,
    },
    /// Reports subscriptions that continue although their paid time has passed.
    CheckPayments {},
}

/// The commands of the function for keys: those on the keys of one account.
pub(crate) const KEY_COMMANDS: [&str; 6] =
    ["get_account", "list_keys", "issue_key", "replace_key", "revoke_key", "usage"];

impl Command {
    /// The account or key that the command names.
    #[must_use]
    pub fn subject(&self) -> (Option<AccountName>, Option<KeyId>) {
        match self {
            Self::SetAccount { account, .. }
            | Self::GetAccount { account }
            | Self::IssueKey { account, .. }
            | Self::ListKeys { account }
            | Self::Usage { account }
            | Self::DeleteAccount { account }
            | Self::PruneAccount { account } => (Some(account.clone()), None),
            Self::RevokeKey { key_id, account } | Self::ReplaceKey { key_id, account, .. } => {
                (account.clone(), Some(key_id.clone()))
            }
            _ => (None, None),
        }
    }
}
