//! Runs the commands `account` and `key`, which invoke the function for accounts and keys of a stack or of
//! the local cloud.

pub(crate) mod options;
pub(crate) mod view;

use accounts::Note;
use accounts::client::Client;
use accounts::command::Command;
use accounts::error::{Code, CommandFailure};
use accounts::response::{Reply, Response};
use common::auth::AccountName;
use serde::de::DeserializeOwned;

use crate::console;
use crate::error::Error;

/// The accounts and keys of a stack or of the local cloud.
pub(crate) struct Accounts {
    function: Client,
    /// The options to append to a command line in a message, so that it selects the same accounts.
    options: String,
}

impl Accounts {
    /// Runs the command. Returns its result, and notes about its side effects for the operator.
    ///
    /// # Errors
    /// If the command fails. If it failed halfway, running it again completes it.
    pub(crate) async fn call<T: DeserializeOwned>(&self, command: Command) -> Result<(T, Vec<Note>), Error> {
        let (name, _) = command.subject();
        // To delete an account or to see its usage, creating it does not help.
        let advised = match command {
            Command::DeleteAccount { .. } | Command::Usage { .. } => None,
            _ => name,
        };
        let response = match self.function.invoke(&command, &random_id()?).await? {
            Reply::Done(response) => Ok(response),
            Reply::Failed { error } => Err(error),
        };
        let Response { result, notes, .. } = response.map_err(|failure| self.refused(advised, failure))?;
        Ok((serde_json::from_value(result)?, notes))
    }

    /// Returns the failure as an error with advice to the operator.
    fn refused(&self, name: Option<AccountName>, failure: CommandFailure) -> Error {
        let CommandFailure { code, message, key_id } = failure;
        let advice = match (code, name, key_id) {
            (Code::NoAccount, Some(name), _) => {
                let command = self.command(&format!("account set {name} --tier starter --paid-until DATE"));
                format!("create it: {command}")
            }
            (Code::IncompleteAccount, Some(name), _) => return Error::Incomplete { name },
            (Code::NoKey, ..) => "`key list` shows the keys of an account".to_owned(),
            (Code::LabelTaken, _, Some(id)) => {
                let command = self.command(&format!("key revoke {id}"));
                format!(
                    "if it is in use, choose another label; if it was lost, revoke it and issue a new one: {command}"
                )
            }
            (Code::Contended, ..) => "run the same command again".to_owned(),
            (Code::Unavailable, ..) => "run the same command again to do the rest".to_owned(),
            _ => return Error::Refused(message),
        };
        Error::Refused(format!("{message}; {advice}"))
    }

    /// Returns a command line for the same stack.
    pub(crate) fn command(&self, command: &str) -> String {
        format!("cargo admin {command}{}", self.options)
    }

    /// Returns the command that issues a key with this label.
    pub(crate) fn issue(&self, name: &AccountName, label: &str) -> String {
        self.command(&format!("key issue {name} --label {}", quoted(label)))
    }
}

/// Prints the warnings about a command.
pub(crate) fn print(notes: Vec<Note>) {
    for Note::AccountInactive { reason } in notes {
        console::print(format_args!("warning: the service rejects the key for now: {reason}"));
    }
}

/// The word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+/:".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns a random request id. The function issues only one key per request id, even if the client repeats
/// the request.
fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
