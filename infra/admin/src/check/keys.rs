//! The keys that `check` uses. They come from standard input, files and the environment, because every user of the machine
//! can see the arguments of a process.

use std::path::{Path, PathBuf};

use clap::Args;
use common::auth::ApiKey;

use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;
use crate::key_input;

/// The environment variables that hold keys if no option gives them.
const GOOD_VARIABLE: &str = "API_KEY";
const LAPSED_VARIABLE: &str = "LAPSED_API_KEY";
const REVOKED_VARIABLE: &str = "REVOKED_API_KEY";
/// Why there is no lapsed key and no revoked key.
pub(super) const NO_LAPSED_KEY: &str = "neither --lapsed-key-file nor LAPSED_API_KEY is given";
pub(super) const NO_REVOKED_KEY: &str = "neither --revoked-key-file nor REVOKED_API_KEY is given";
const KEY_FILE: &str = "--key-file";
const LAPSED_KEY_FILE: &str = "--lapsed-key-file";
const REVOKED_KEY_FILE: &str = "--revoked-key-file";

/// The options about keys.
#[derive(Args)]
pub(super) struct KeyArguments {
    /// `-` reads an API key that the service accepts from standard input
    #[arg(long, value_name = "-", conflicts_with = "key_file")]
    key: Option<String>,
    /// A file with an API key that the service accepts; the default is the environment variable `API_KEY`
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// A file with a key of an unpaid account; the default is the environment variable `LAPSED_API_KEY`; without
    /// one, 403 is not checked
    #[arg(long, value_name = "FILE")]
    lapsed_key_file: Option<PathBuf>,
    /// A file with a revoked key; the default is the environment variable `REVOKED_API_KEY`; without one, this 401 is not
    /// checked
    #[arg(long, value_name = "FILE")]
    revoked_key_file: Option<PathBuf>,
}

/// The keys to check with.
pub(super) struct Keys {
    /// A key that the service accepts.
    pub(super) good: ApiKey,
    /// A key whose account is not paid for.
    pub(super) lapsed: Option<ApiKey>,
    pub(super) revoked: Option<ApiKey>,
}

impl Keys {
    /// The keys of the options and the environment.
    ///
    /// # Errors
    /// If a key cannot be read or is malformed, or there is no good key.
    pub(super) async fn read(arguments: &KeyArguments, console: &Console) -> Result<Self, Error> {
        let KeyArguments { key, key_file, lapsed_key_file, revoked_key_file } = arguments;
        let good = match key.as_deref() {
            Some(STANDARD_STREAM) => match key_input::read_standard_input(console).await {
                Err(Error::EmptyInput { .. }) => None,
                line => Some(parse("standard input", &line?)?),
            },
            Some(_) => return Err(Error::KeyArgument),
            None => optional(KEY_FILE, key_file.as_deref(), GOOD_VARIABLE).await?,
        };
        Ok(Self {
            good: good.ok_or(Error::NoApiKey)?,
            lapsed: optional(LAPSED_KEY_FILE, lapsed_key_file.as_deref(), LAPSED_VARIABLE).await?,
            revoked: optional(REVOKED_KEY_FILE, revoked_key_file.as_deref(), REVOKED_VARIABLE).await?,
        })
    }
}

/// The key in the file, or otherwise in the environment variable.
async fn optional(
    option: &'static str,
    file: Option<&Path>,
    variable: &'static str,
) -> Result<Option<ApiKey>, Error> {
    if let Some(file) = file {
        return parse(option, &key_input::read_file(file).await?).map(Some);
    }
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => parse(variable, &key).map(Some),
        _ => Ok(None),
    }
}

/// Parses a key. Errors do not repeat the text.
fn parse(place: &'static str, text: &str) -> Result<ApiKey, Error> {
    key_input::trim(text).parse().map_err(|cause| Error::MalformedApiKey { place, cause })
}
