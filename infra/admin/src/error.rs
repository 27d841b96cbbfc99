//! Why a command did not come to its end. Each text is one sentence that a person can act on.

use std::io;
use std::path::PathBuf;

use common::config::ConfigError;
use tables::ProfileError;

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

/// What to do about it.
fn advice(error: &tables::Error) -> &'static str {
    match error.code() {
        Some("ResourceNotFoundException") => {
            "check the name of the table (--table, HISTORY_TABLE), the region and AWS_ENDPOINT_URL_DYNAMODB"
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
