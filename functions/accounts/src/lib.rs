//! Manages accounts and API keys. Two functions run this binary: `accounts` accepts all commands, for
//! operators and `cargo admin`; `keys` accepts the commands on the keys of one account, for sites. They have
//! no route and no address: callers invoke them through IAM. An event is one command, and the response is its
//! result or an error.
//!
//! The log is an audit trail with one line per command, and one per changed row. No line and no error
//! contains a key.

mod access;
mod account;
mod check_payments;
pub mod client;
pub mod command;
pub mod error;
mod explain;
mod issue;
pub mod response;
mod revoke;
mod rows;
mod view;

use std::time::Duration;

use common::auth::{AccountName, KeyId, Label, without_keys};
use common::config::{Config, ConfigError};
use common::lambda::{
    Context, Diagnostic, IsCold, LambdaEvent, LogName, StartError, block_on, deadline, failed_invocation,
    guard, milliseconds, serve, set_up,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::Instant;

use self::access::Access;
use self::account::Changes;
use self::command::{Command, KEY_COMMANDS};
use self::error::{Code, CommandFailure, Error};
pub use self::explain::Explanation;
use self::response::{Reply, Response};
pub use self::rows::{AccountRow, ExportedRows, Imported, KeyRow, Row};
pub use self::view::{
    AccountView, AccountWithKeys, Deleted, IssuedKey, KeyView, Keys, Note, Pruned, State, SubscriptionView,
};

const NAME: &str = "accounts";

/// The field of an event with the caller's request id. All other fields belong to the command.
const REQUEST_ID: &str = "request_id";

/// The command that a schedule sends.
const CHECK_PAYMENTS: &str = "check_payments";

/// Runs the function until Lambda ends the process.
///
/// # Errors
/// If the function cannot start, or cannot reach the Runtime API. The log has the cause of a failed start.
pub fn run() -> Result<(), common::lambda::Error> {
    let instance = set_up(LogName::Function(NAME), Accounts::new)?;
    block_on(async {
        instance.access.warm_up().await;
        serve(|event| instance.invoke(event)).await
    })
}

/// The commands that a function of this binary accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllowedCommands {
    All,
    /// Only the commands on the keys of one account.
    Keys,
}

impl AllowedCommands {
    /// Reads `ALLOWED_COMMANDS`: `all` or `keys`; `all` if absent.
    fn of(config: &Config) -> Result<Self, ConfigError> {
        let allowed = config.value("ALLOWED_COMMANDS", "all or keys", |text| match text {
            "all" => Some(Self::All),
            "keys" => Some(Self::Keys),
            _ => None,
        });
        Ok(allowed?.unwrap_or(Self::All))
    }
}

struct Accounts {
    access: Access,
    allowed: AllowedCommands,
    is_cold: IsCold,
}

impl Accounts {
    fn new(config: &Config) -> Result<Self, StartError> {
        let (access, allowed) = (Access::new(config)?, AllowedCommands::of(config)?);
        Ok(Self { access, allowed, is_cold: IsCold::default() })
    }

    /// Handles one event.
    ///
    /// # Errors
    /// If a command of the schedule fails, so that Lambda repeats it. Any other failed command has a
    /// response.
    async fn invoke(&self, event: LambdaEvent<Box<RawValue>>) -> Result<Reply, Diagnostic> {
        let start = Instant::now();
        let mut line = Line::default();
        let run = async {
            // The runtime would repeat the names of fields in its error, and they may be keys.
            let payload = serde_json::from_str(event.payload.get());
            let Value::Object(mut fields) = payload.map_err(|error| invalid(&error))? else {
                return Err(Error::InvalidCommand("the event must be an object".to_owned()));
            };
            let request = fields.remove(REQUEST_ID);
            let name = fields.get("command").and_then(Value::as_str).map(str::to_owned);
            line.caller_request_id = request.map(parse).transpose()?;
            self.allow(name.as_deref().unwrap_or_default(), &fields)?;
            let command: Command = parse(Value::Object(fields))?;
            // `name` is the name of a command: otherwise `parse` would have failed.
            line.command = name;
            (line.account, line.key_id) = command.subject();
            Box::pin(self.access.run(command, line.caller_request_id.as_ref())).await
        };
        let result = guard(deadline(&event.context), run).await;
        let reply = match result.unwrap_or_else(|interrupted| Err(Error::Internal(interrupted.to_string()))) {
            Ok(response) => {
                line.account = response.account.clone().or(line.account);
                line.key_id = response.key_id.clone().or(line.key_id);
                Reply::Done(response)
            }
            Err(error) => Reply::Failed { error: CommandFailure::from(&error) },
        };
        line.write(self.name(), &event.context, start.elapsed(), self.is_cold.take(), &reply);
        match reply {
            Reply::Failed { error } if line.command.as_deref() == Some(CHECK_PAYMENTS) => {
                Err(failed_invocation(error.message))
            }
            reply => Ok(reply),
        }
    }

    const fn name(&self) -> &'static str {
        match self.allowed {
            AllowedCommands::All => NAME,
            AllowedCommands::Keys => "keys",
        }
    }

    /// Checks that this function accepts the command, and for keys that it names the account.
    fn allow(&self, command: &str, fields: &Map<String, Value>) -> Result<(), Error> {
        match self.allowed {
            AllowedCommands::Keys if !KEY_COMMANDS.contains(&command) => Err(Error::InvalidCommand(format!(
                "command: this function accepts only {}",
                KEY_COMMANDS.join(", ")
            ))),
            AllowedCommands::Keys if fields.get("account").is_none_or(Value::is_null) => {
                Err(Error::InvalidCommand(format!("account: {command} requires the account of the key")))
            }
            AllowedCommands::All | AllowedCommands::Keys => Ok(()),
        }
    }
}

impl Access {
    /// Runs a command. `request` is the caller's request id: for a day, a command that issues a key can be
    /// repeated with the same id. The repetition revokes the key of the earlier attempt and issues a new one.
    ///
    /// # Errors
    /// If a step of the command fails. A repeated command completes the missing steps.
    pub(crate) async fn run(&self, command: Command, request: Option<&Label>) -> Result<Response, Error> {
        match command {
            Command::SetAccount { account, tier, status, paid_until } => {
                account::set(self, &account, Changes { tier, status, paid_until }).await
            }
            Command::GetAccount { account } => account::get(self, &account).await,
            Command::IssueKey { account, label } => issue::issue(self, &account, &label, request).await,
            Command::ListKeys { account } => account::list_keys(self, &account).await,
            Command::RevokeKey { key_id, account } => revoke::run(self, &key_id, account.as_ref()).await,
            Command::ReplaceKey { key_id, account, grace_seconds } => {
                issue::replace(self, &key_id, account.as_ref(), grace_seconds, request).await
            }
            Command::ExplainKey { key } => explain::run(self, &key).await,
            Command::ExportRows { after } => rows::export(self, after).await,
            Command::ImportRow { row } => rows::import(self, row).await,
            Command::Usage { account } => account::usage(self, &account).await,
            Command::DeleteAccount { account } => account::delete(self, &account).await,
            Command::PruneAccount { account } => account::prune(self, &account).await,
            Command::CheckPayments {} => check_payments::run(self).await,
        }
    }
}

/// Parses a part of an event. The error may quote the part, but with keys removed.
fn parse<T: DeserializeOwned>(part: Value) -> Result<T, Error> {
    serde_json::from_value(part).map_err(|error| invalid(&error))
}

fn invalid(error: &serde_json::Error) -> Error {
    Error::InvalidCommand(without_keys(&error.to_string()))
}

/// A line of the audit trail.
#[derive(Default)]
struct Line {
    command: Option<String>,
    caller_request_id: Option<Label>,
    account: Option<AccountName>,
    key_id: Option<KeyId>,
}

impl Line {
    fn write(&self, function: &str, context: &Context, duration: Duration, cold_start: bool, reply: &Reply) {
        macro_rules! line {
            ($level:ident, $message:literal $(, $field:ident = $value:expr)*) => {
                tracing::$level!(
                    function,
                    command = self.command,
                    caller_request_id = self.caller_request_id.as_ref().map(Label::as_str),
                    account = self.account.as_ref().map(AccountName::as_str),
                    key_id = self.key_id.as_ref().map(KeyId::as_str),
                    duration_ms = milliseconds(duration),
                    cold_start,
                    request_id = context.request_id,
                    $($field = $value,)*
                    $message
                )
            };
        }
        match reply {
            Reply::Done(_) => line!(info, "done"),
            Reply::Failed { error: CommandFailure { code: Code::Unavailable, message, .. } } => {
                line!(error, "failed", cause = message);
            }
            Reply::Failed { error } => line!(info, "refused", cause = error.message),
        }
    }
}
