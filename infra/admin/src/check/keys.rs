//! The keys that `check` uses. They come from the environment and standard input, because every user of the
//! machine can see the arguments of a process.

use common::auth::ApiKey;

use crate::error::Error;
use crate::key_input;

pub(super) struct Keys {
    /// A key that the service accepts.
    pub(super) good: ApiKey,
    /// A key whose account is not paid for.
    pub(super) lapsed: Option<ApiKey>,
    pub(super) revoked: Option<ApiKey>,
}

impl Keys {
    /// Reads the keys from the environment, and the good key from standard input if `API_KEY` is not set.
    ///
    /// # Errors
    /// If a key is malformed, or there is no good key.
    pub(super) async fn read() -> Result<Self, Error> {
        let good = match of_variable("API_KEY")? {
            Some(key) => key,
            None => match key_input::read_standard_input().await {
                Err(Error::EmptyInput) => return Err(Error::NoApiKey),
                line => parse("standard input", &line?)?,
            },
        };
        Ok(Self { good, lapsed: of_variable("LAPSED_API_KEY")?, revoked: of_variable("REVOKED_API_KEY")? })
    }
}

fn of_variable(variable: &'static str) -> Result<Option<ApiKey>, Error> {
    let text = std::env::var(variable).unwrap_or_default();
    if text.trim().is_empty() { Ok(None) } else { parse(variable, &text).map(Some) }
}

fn parse(place: &'static str, text: &str) -> Result<ApiKey, Error> {
    key_input::trim(text).parse().map_err(|cause| Error::MalformedApiKey { place, cause })
}
