//! The response to a command.

use common::auth::{AccountName, KeyId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{CommandFailure, Error};
use crate::view::Note;

/// The response to a successful command. Not `Debug`: it may hold a key.
#[derive(Serialize, Deserialize)]
pub struct Response {
    pub result: Value,
    pub notes: Vec<Note>,
    #[serde(skip)]
    pub(crate) account: Option<AccountName>,
    /// The key that the log names.
    #[serde(skip)]
    pub(crate) key_id: Option<KeyId>,
}

impl Response {
    pub(crate) fn of(result: &impl Serialize) -> Result<Self, Error> {
        let result = serde_json::to_value(result).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Self { result, notes: Vec::new(), account: None, key_id: None })
    }

    /// Sets the account that the log names.
    pub(crate) fn about(self, account: &AccountName) -> Self {
        Self { account: Some(account.clone()), ..self }
    }

    /// Sets the account and the key that the log names.
    pub(crate) fn about_key(self, account: &AccountName, key_id: &KeyId) -> Self {
        Self { key_id: Some(key_id.clone()), ..self.about(account) }
    }
}

/// The payload of an invocation's response.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    Done(Response),
    Failed { error: CommandFailure },
}
