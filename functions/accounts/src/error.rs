//! The errors of commands, and the form in which the function returns them.

use std::fmt;

use aws::AwsError;
use common::auth::{AccountName, KeyId, Label};
use gateway::UsageError;
use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    InvalidCommand(String),
    #[error("there is no account {0}")]
    NoAccount(AccountName),
    #[error("tier and paid_until of the account {0} are not set; both are required")]
    IncompleteAccount(AccountName),
    #[error("there is no key {0}")]
    NoKey(KeyId),
    #[error("{account} already has the key {id} with the label {label}")]
    LabelTaken { account: AccountName, label: Label, id: KeyId },
    #[error("the account {account} has {maximum} valid keys, which is the maximum; revoke one")]
    TooManyKeys { account: AccountName, maximum: usize },
    #[error(
        "the account {account} has issued {maximum} keys today (UTC), which is the maximum; try again tomorrow"
    )]
    TooManyKeysToday { account: AccountName, maximum: u32 },
    #[error("the key {0} is revoked, and cannot be replaced")]
    NotIssued(KeyId),
    #[error("other processes keep changing the account {0}")]
    Contended(AccountName),
    #[error(transparent)]
    Table(#[from] tables::Error),
    #[error(
        "{0}; `cargo admin account prune` deletes the keys in API Gateway of accounts that are no longer paid for, or request a higher quota \
         from AWS"
    )]
    GatewayFull(AwsError),
    #[error(transparent)]
    Gateway(AwsError),
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("{0}")]
    Internal(String),
}

impl From<AwsError> for Error {
    fn from(error: AwsError) -> Self {
        if error.is("LimitExceededException") { Self::GatewayFull(error) } else { Self::Gateway(error) }
    }
}

/// The machine-readable code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    InvalidCommand,
    NoAccount,
    IncompleteAccount,
    NoKey,
    LabelTaken,
    TooManyKeys,
    NotIssued,
    Contended,
    Unavailable,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandFailure {
    pub code: Code,
    pub message: String,
    /// The KEY-ID of the key that the error is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<KeyId>,
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl From<&Error> for CommandFailure {
    fn from(error: &Error) -> Self {
        let (code, key_id) = match error {
            Error::InvalidCommand(_)
            | Error::Usage(UsageError::NoLimits(_) | UsageError::NoSubscription(_)) => {
                (Code::InvalidCommand, None)
            }
            Error::NoAccount(_) => (Code::NoAccount, None),
            Error::IncompleteAccount(_) => (Code::IncompleteAccount, None),
            Error::NoKey(id) => (Code::NoKey, Some(id)),
            Error::LabelTaken { id, .. } => (Code::LabelTaken, Some(id)),
            Error::TooManyKeys { .. } | Error::TooManyKeysToday { .. } => (Code::TooManyKeys, None),
            Error::NotIssued(id) => (Code::NotIssued, Some(id)),
            Error::Contended(_) => (Code::Contended, None),
            Error::Table(_)
            | Error::GatewayFull(_)
            | Error::Gateway(_)
            | Error::Usage(_)
            | Error::Internal(_) => (Code::Unavailable, None),
        };
        Self { code, message: error.to_string(), key_id: key_id.cloned() }
    }
}
