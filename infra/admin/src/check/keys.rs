//! The keys that `check` uses. They come from standard input, files and the environment, because every user of the machine
//! can see the arguments of a process.

use clap::Args;
use common::auth::ApiKey;

use crate::arguments::STANDARD_STREAM;
use crate::console::Console;
use crate::error::Error;
use crate::key_input;

/// The options about keys.
#[derive(Args)]
pub(super) struct KeyArguments {
    /// `-` reads an API key that the service accepts from standard input
    #[arg(long, value_name = "-", conflicts_with = "key_file")]
    key: Option<String>,
    /// A file with an API key that the service accepts; the default is the environment variable `API_KEY`
    #[arg(long, value_name = "FILE", value_parser = of_file)]
    key_file: Option<ApiKey>,
    /// A file with a key of an unpaid account; the default is the environment variable `LAPSED_API_KEY`; without
    /// one, 403 is not checked
    #[arg(long, value_name = "FILE", value_parser = of_file)]
    lapsed_key_file: Option<ApiKey>,
    /// A file with a revoked key; the default is the environment variable `REVOKED_API_KEY`; without one, this 401 is not
    /// checked
    #[arg(long, value_name = "FILE", value_parser = of_file)]
    revoked_key_file: Option<ApiKey>,
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
    pub(super) async fn read(arguments: KeyArguments, console: &Console) -> Result<Self, Error> {
        let KeyArguments { key, key_file, lapsed_key_file, revoked_key_file } = arguments;
        let good = match key.as_deref() {
            Some(STANDARD_STREAM) => match key_input::read_standard_input(console).await {
                Err(Error::EmptyInput) => None,
                line => Some(parse("standard input", &line?)?),
            },
            Some(_) => return Err(Error::KeyArgument),
            None => or_variable(key_file, "API_KEY")?,
        };
        Ok(Self {
            good: good.ok_or(Error::NoApiKey)?,
            lapsed: or_variable(lapsed_key_file, "LAPSED_API_KEY")?,
            revoked: or_variable(revoked_key_file, "REVOKED_API_KEY")?,
        })
    }
}

fn or_variable(key: Option<ApiKey>, variable: &'static str) -> Result<Option<ApiKey>, Error> {
    match std::env::var(variable) {
        Ok(text) if key.is_none() && !text.trim().is_empty() => parse(variable, &text).map(Some),
        _ => Ok(key),
    }
}

/// Parses the first line of a file. Errors do not repeat it.
fn of_file(path: &str) -> Result<ApiKey, Error> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|cause| Error::Read { name: path.to_owned(), cause })?;
    parse("the file", text.lines().next().unwrap_or_default())
}

fn parse(place: &'static str, text: &str) -> Result<ApiKey, Error> {
    key_input::trim(text).parse().map_err(|cause| Error::MalformedApiKey { place, cause })
}
