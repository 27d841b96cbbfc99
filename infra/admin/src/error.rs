//! The errors of the commands. Each message is one line with the problem and, where one is known, the
//! solution.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use accounts::client::InvokeError;
use aws::AwsError;
use common::auth::{AccountName, KeyId, MalformedKey};
use common::config::ConfigError;
use common::upstream::http::ClientError;
use tables::ProfileError;

use crate::arguments::INVALID_COMMAND_LINE;

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
    #[error("{cause}; {}", aws_advice(cause))]
    Aws {
        #[from]
        cause: AwsError,
    },
    #[error(
        "there is no stack {name} in {region}; check --stack, the region (AWS_REGION) and the profile (AWS_PROFILE)"
    )]
    NoStack { name: String, region: String },
    #[error(
        "the stack {stack} has no output {output}; check --stack, and deploy the template of this version of the service"
    )]
    NoOutput { stack: String, output: &'static str },
    #[error(
        "choose the accounts of a stack with --stack, or those of the local cloud with AWS_ENDPOINT_URL_LAMBDA"
    )]
    NoTarget,
    #[error("the tier and the paid time of {name} are not set; give both --tier and --paid-until")]
    Incomplete { name: AccountName },
    #[error("{0}")]
    Refused(String),
    #[error("the function's response does not fit this version of `cargo admin`: {0}")]
    OtherVersion(#[from] serde_json::Error),
    #[error("the key {id} is issued, but cannot be shown: {cause}; revoke it and issue a new one: {command}")]
    NotShown { id: KeyId, cause: io::Error, command: String },
    #[error("no key was issued: standard output is /dev/null or closed, and a key is shown only once")]
    Discarded,
    #[error("the system has no random source: {0}")]
    Random(getrandom::Error),
    #[error("an API key is required, on standard input or in the environment variable API_KEY")]
    NoApiKey,
    #[error("{place} has no valid API key: {cause}")]
    MalformedApiKey { place: &'static str, cause: MalformedKey },
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("no response to {cause}; check --url and the network")]
    Unreachable { cause: String },
    #[error("standard input has no key")]
    EmptyInput,
    #[error("cannot read {name}: {cause}")]
    Read { name: String, cause: io::Error },
    #[error("cannot write {name}: {cause}")]
    Write { name: String, cause: io::Error },
    #[error("{} already exists; choose another name, or replace it with --force", path.display())]
    Exists { path: PathBuf },
    #[error("{} is not a regular file; export to standard output with - and redirect it", path.display())]
    NotRegular { path: PathBuf },
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
    #[error("interrupted; run the same command again to do the rest")]
    Interrupted,
}

impl Error {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoTarget | Self::NoApiKey | Self::MalformedApiKey { .. } => {
                ExitCode::from(INVALID_COMMAND_LINE)
            }
            _ => ExitCode::FAILURE,
        }
    }
}

impl From<InvokeError> for Error {
    fn from(error: InvokeError) -> Self {
        match error {
            InvokeError::Aws(cause) => cause.into(),
            InvokeError::OtherVersion(cause) => cause.into(),
        }
    }
}

/// Advice to the operator about an error of a table.
fn advice(error: &tables::Error) -> &'static str {
    match error.code() {
        Some("ResourceNotFoundException") => {
            "check the name of the table (--stack, --table or HISTORY_TABLE), the region and AWS_ENDPOINT_URL_DYNAMODB"
        }
        None if matches!(error, tables::Error::Corrupt { .. }) => {
            "this service does not write such rows: correct it or delete it"
        }
        Some("AccessDeniedException") => "these credentials need permission to read and write the table",
        Some(
            "UnrecognizedClientException"
            | "InvalidSignatureException"
            | "IncompleteSignatureException"
            | "MissingAuthenticationTokenException"
            | "ExpiredTokenException",
        ) => "sign in again, or choose another profile with AWS_PROFILE",
        Some(_) if error.is_throttled() => "run the same command again later to do the rest",
        Some(_) => "resolve the cause, then run the same command again to do the rest",
        None => {
            "check the network, AWS_ENDPOINT_URL_DYNAMODB, the region and the credentials, then run the same command \
             again to do the rest"
        }
    }
}

/// Advice to the operator about an error of AWS.
fn aws_advice(error: &AwsError) -> &'static str {
    match error.code.as_deref() {
        Some(
            "AccessDenied" | "AccessDeniedException" | "UnauthorizedException" | "UnauthorizedOperation",
        ) => "these credentials need more permissions: infra/admin/README.md lists them",
        Some(
            "UnrecognizedClientException"
            | "InvalidClientTokenId"
            | "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "IncompleteSignature"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException"
            | "ExpiredToken"
            | "ExpiredTokenException",
        ) => "sign in again, or choose another profile with AWS_PROFILE",
        Some("TooManyRequestsException" | "Throttling" | "ThrottlingException") => {
            "run the same command again later to do the rest"
        }
        Some(_) => "resolve the cause, then run the same command again to do the rest",
        None => {
            "check the network, the region, the credentials and AWS_ENDPOINT_URL, then run the same command \
             again to do the rest"
        }
    }
}
