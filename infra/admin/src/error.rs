//! Why a command did not come to its end. Each text is one sentence that a person can act on.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use common::auth::{AccountName, KeyId, Label, MalformedKey};
use common::config::ConfigError;
use common::http::ClientError;
use tables::ProfileError;

use crate::arguments::WRONG_COMMAND_LINE;
use crate::service::ServiceError;

/// Why a command did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Environment(#[from] ConfigError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error("{cause}; {}", advice(cause))]
    Table {
        #[from]
        cause: tables::Error,
    },
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(
        "there is no stack {name} in {region}; check --stack, the region (AWS_REGION) and the profile (AWS_PROFILE)"
    )]
    NoStack { name: String, region: String },
    #[error(
        "the stack {stack} has no output {output}: is it this service, deployed with the template of this version?"
    )]
    NoOutput { stack: String, output: &'static str },
    #[error("there is no account {name}; make it with: {command}")]
    NoAccount { name: AccountName, command: String },
    #[error("there is no account {name} yet, and a new one needs --tier and --paid-until")]
    Incomplete { name: AccountName },
    #[error("somebody else keeps changing the account {name}; run the same command again")]
    Contended { name: AccountName },
    #[error("there is no key {id}; `key list` shows the keys of an account")]
    NoKey { id: KeyId },
    #[error(
        "{account} has the key {id} with the label {} already; if somebody uses it, choose another label; if nobody has \
         it, revoke it and issue a new one: {command}",
        label.as_str()
    )]
    LabelTaken { account: AccountName, label: Label, id: KeyId, command: String },
    #[error("somebody else took the key {id} back before it was issued; run the same command again")]
    Overtaken { id: KeyId },
    #[error(
        "the key {id} is issued, but cannot be shown: {cause}; nobody has it, so revoke it and issue a new one: {command}"
    )]
    Unseen { id: KeyId, cause: io::Error, command: String },
    #[error("standard output leads nowhere, and the key is shown only once: nothing was issued")]
    Nowhere,
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
    #[error(
        "give an API key that may ask: --key KEY, --key - and the key on standard input, or the environment variable API_KEY"
    )]
    NoApiKey,
    #[error("what {place} has is no API key: {cause}")]
    MalformedApiKey { place: &'static str, cause: MalformedKey },
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("there is no answer to {cause}; check --url and the network")]
    Unreachable { cause: String },
    #[error("there is no key on standard input")]
    EmptyInput,
    #[error("cannot read {name}: {cause}")]
    Read { name: String, cause: io::Error },
    #[error("cannot write {name}: {cause}")]
    Write { name: String, cause: io::Error },
    #[error("{} is there already: choose another name, or replace it with --force", path.display())]
    Exists { path: PathBuf },
    #[error("{} is not a regular file: write to standard output with - and redirect it", path.display())]
    NotRegular { path: PathBuf },
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
    #[error("interrupted; run the same command again to do the rest")]
    Interrupted,
}

impl Error {
    /// What the process ends with.
    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::NoApiKey | Self::MalformedApiKey { .. } => ExitCode::from(WRONG_COMMAND_LINE),
            _ => ExitCode::FAILURE,
        }
    }
}

/// What to do about it.
fn advice(error: &tables::Error) -> &'static str {
    match error.code() {
        Some("ResourceNotFoundException") => {
            "check the name of the table (--stack, --table, HISTORY_TABLE or ACCESS_TABLE), the region and \
             AWS_ENDPOINT_URL_DYNAMODB"
        }
        None if matches!(error, tables::Error::Corrupt { .. }) => {
            "somebody else must have written it: mend it or delete it"
        }
        Some("AccessDeniedException") => "these credentials need the right to read and write the table",
        Some(
            "UnrecognizedClientException"
            | "InvalidSignatureException"
            | "IncompleteSignatureException"
            | "MissingAuthenticationTokenException"
            | "ExpiredTokenException",
        ) => "sign in again, or choose another profile with AWS_PROFILE",
        Some(_) if error.is_throttled() => "run the same command again later to do the rest",
        Some(_) => "run the same command again to do the rest, once the reason is gone",
        None => {
            "check the network, AWS_ENDPOINT_URL_DYNAMODB, the region and the credentials, and run the same command \
             again to do the rest"
        }
    }
}
