//! Runs the commands `account` and `key`. In a stack or the local cloud, the commands invoke the function for accounts and keys. On a
//! table alone, the commands run the code of this function in this process.

pub(crate) mod options;
pub(crate) mod view;

use accounts::client::Client;
use accounts::command::Command;
use accounts::error::{Code, CommandFailure, Error as CommandError};
use accounts::response::{Reply, Response};
use accounts::{Access, Note};
use common::auth::AccountName;
use serde::de::DeserializeOwned;

use crate::console;
use crate::error::Error;

/// Where the commands run: in a function, or in this process on a table.
enum Target {
    Function(Client),
    Table(Access),
}

/// The accounts and keys of a stack, of the local cloud or of a table.
pub(crate) struct Accounts {
    target: Target,
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
        let response = match &self.target {
            Target::Function(function) => match function.invoke(&command, &random_id()?).await? {
                Reply::Done(response) => Ok(response),
                Reply::Failed { error } => Err(error),
            },
            Target::Table(access) => match Box::pin(access.run(command, None)).await {
                Err(CommandError::Table(cause)) => return Err(cause.into()),
                result => result.map_err(|error| CommandFailure::from(&error)),
            },
        };
        let Response { result, notes, .. } = response.map_err(|failure| self.refused(name, failure))?;
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
            (Code::Overtaken | Code::Contended, ..) => "run the same command again".to_owned(),
            (Code::Unavailable, ..) => "run the same command again to do the rest".to_owned(),
            _ => return Error::Refused(message),
        };
        Error::Refused(format!("{message}; {advice}"))
    }

    /// Returns a command line for the same table or stack.
    pub(crate) fn command(&self, command: &str) -> String {
        format!("cargo admin {command}{}", self.options)
    }

    /// Prints the notes of a command about the account `name`. If the command did not reach API Gateway, warns of the consequence
    /// `without_gateway`.
    pub(crate) fn print(
        &self,
        name: &AccountName,
        notes: Vec<Note>,
        without_gateway: &str,
    ) -> Result<(), Error> {
        for note in notes {
            match note {
                Note::AccountInactive { reason } => {
                    console::print(format_args!("warning: the service rejects the key for now: {reason}"));
                }
                Note::IncompleteKeyRemoved { key_id } => {
                    console::print(format_args!("removed the key {key_id}, which was not issued completely"));
                }
                Note::KeyMoved { key_id, tier } => {
                    console::print(format_args!("moved the key {key_id} to the usage plan of {tier}"));
                }
                Note::KeyNotInGateway { key_id, label } => {
                    let command = self.issue(name, label.as_str());
                    console::print(format_args!(
                        "warning: API Gateway does not have the key {key_id}; to add it, run: {command}"
                    ));
                }
                Note::KeyDeletedFromGateway => console::print("deleted the key from API Gateway"),
                Note::KeySharedInGateway => {
                    console::print("API Gateway keeps the key: it is also in a usage plan of another stack");
                }
                Note::NoGateway => self.warn_without_gateway(without_gateway)?,
            }
        }
        Ok(())
    }

    /// Returns the command that issues a key with this label, or adds the issued key to API Gateway.
    pub(crate) fn issue(&self, name: &AccountName, label: &str) -> String {
        self.command(&format!("key issue {name} --label {}", quoted(label)))
    }

    /// Warns of a `consequence` of not reaching API Gateway, unless the table is on this machine.
    pub(crate) fn warn_without_gateway(&self, consequence: &str) -> Result<(), Error> {
        if matches!(self.target, Target::Table(_)) && !tables::is_on_this_machine()? {
            console::print(format_args!("warning: without --stack, {consequence}"));
        }
        Ok(())
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

/// Returns a random request id. The function issues only one key per request id, even if the client repeats the request.
fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
