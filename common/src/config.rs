//! The environment variables of a function. Each part of the service reads its own variables at start-up.
//! Credentials and the address of S3 are read by the clients of AWS. White space around a value is removed. A
//! variable without a value then counts as unset, because a template cannot omit a variable.

use std::fmt;

use lambda_http::http::HeaderValue;
use reqwest::Url;

/// The address of all services of AWS. As in the AWS SDKs, the variable of one service wins over it.
const AWS_ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// A shorter secret can be guessed, or is not the whole secret.
const SHORTEST_SECRET: usize = 16;

/// An environment variable that cannot be used. The message names the variable and never its value.
#[derive(Debug, thiserror::Error)]
#[error("the environment variable {variable} must be {expected}")]
pub struct ConfigError {
    variable: &'static str,
    expected: &'static str,
}

impl ConfigError {
    /// Returns the error about `variable`, which must be `expected`.
    #[must_use]
    pub const fn new(variable: &'static str, expected: &'static str) -> Self {
        Self { variable, expected }
    }
}

/// The environment of a function.
pub struct Config(Lookup);

/// Returns the value of a variable.
type Lookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

impl fmt::Debug for Config {
    /// Shows no values, which can be secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Config").finish_non_exhaustive()
    }
}

impl Config {
    #[must_use]
    pub fn from_environment() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// The environment whose variables `lookup` returns by name.
    #[must_use]
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Box::new(lookup))
    }

    /// The value of the variable; `None` if it is unset.
    #[must_use]
    pub fn text(&self, variable: &str) -> Option<String> {
        let Self(lookup) = self;
        lookup(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The variable as `read` reads it; `None` if it is unset.
    ///
    /// # Errors
    /// If `read` returns `None`. The error says that the variable must be `expected`.
    pub fn value<T>(
        &self,
        variable: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let value = self.text(variable);
        value.map(|text| read(&text).ok_or(ConfigError { variable, expected })).transpose()
    }

    /// The address in the variable; `None` if it is unset.
    ///
    /// # Errors
    /// If it is not an HTTP address, or has a query.
    pub fn address(&self, variable: &'static str) -> Result<Option<Url>, ConfigError> {
        let is_base = |url: &Url| {
            matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
        };
        let read = |text: &str| Url::parse(text).ok().filter(is_base);
        self.value(variable, "an http or https address without a query", read)
    }

    /// The address of a service of AWS: of the variable `of_service`, such as `AWS_ENDPOINT_URL_DYNAMODB`, or
    /// else of the variable of all services. `None` for the address of the region.
    ///
    /// # Errors
    /// If the variable that counts has no address.
    pub fn aws_endpoint(&self, of_service: &'static str) -> Result<Option<Url>, ConfigError> {
        let of_service = self.address(of_service)?;
        of_service.map_or_else(|| self.address(AWS_ENDPOINT), |address| Ok(Some(address)))
    }

    /// The value of a header; `None` if the variable is unset.
    ///
    /// # Errors
    /// If it has other characters than visible ASCII.
    pub fn header(&self, variable: &'static str) -> Result<Option<HeaderValue>, ConfigError> {
        self.value(variable, "one line of visible ASCII", |text| {
            HeaderValue::from_str(text).ok().filter(|header| header.to_str().is_ok())
        })
    }

    /// The secret in the variable, as a header that `Debug` does not print; `None` if it is unset.
    ///
    /// # Errors
    /// If it is too short, or has other characters than visible ASCII.
    pub fn secret(&self, variable: &'static str) -> Result<Option<HeaderValue>, ConfigError> {
        let Some(mut secret) = self.header(variable)? else { return Ok(None) };
        secret.set_sensitive(true);
        let is_whole = secret.len() >= SHORTEST_SECRET;
        let expected = "a secret of at least 16 characters";
        is_whole.then_some(Some(secret)).ok_or(ConfigError { variable, expected })
    }

    /// Whether the variable is `on`; false if it is unset.
    pub fn is_on(&self, variable: &'static str) -> Result<bool, ConfigError> {
        let is_on = self.value(variable, "on or off", |text| match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        });
        is_on.map(Option::unwrap_or_default)
    }

    /// The region of the function and its tables, which Lambda sets.
    #[must_use]
    pub fn region(&self) -> String {
        self.text("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned())
    }
}

/// Whether API Gateway caches this function's responses (template parameter `GatewayCache`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCache {
    /// API Gateway stores any response of the function, whatever its status, and replays it for the route's
    /// TTL.
    On,
    /// Every request reaches a function.
    Off,
}

impl GatewayCache {
    /// Reads `GatewayCache`: `on` or `off`; `off` if absent, as in local runs.
    pub fn of(config: &Config) -> Result<Self, ConfigError> {
        Ok(if config.is_on("GatewayCache")? { Self::On } else { Self::Off })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &str) -> Config {
        let value = value.to_owned();
        Config::from_lookup(move |requested| (requested == name).then(|| value.clone()))
    }

    #[test]
    fn a_variable_without_a_value_counts_as_unset() {
        for value in ["", " ", "\n", " \r\n\t"] {
            let config = with("NAME", value);
            assert_eq!(config.text("NAME"), None, "{value:?}");
            assert!(matches!(config.address("NAME"), Ok(None)), "{value:?}");
            assert!(matches!(config.header("NAME"), Ok(None)), "{value:?}");
            assert!(matches!(config.is_on("NAME"), Ok(false)), "{value:?}");
        }
        assert_eq!(with("NAME", " value\r\n").text("NAME").unwrap(), "value");
    }

    #[test]
    fn the_endpoint_of_a_service_wins_over_that_of_all_services() {
        for (of_service, of_all, expected) in [
            (Some("http://one:1"), Some("http://all:2"), Some("http://one:1/")),
            (None, Some("http://all:2"), Some("http://all:2/")),
            (Some(""), Some("http://all:2"), Some("http://all:2/")),
            (Some("http://one:1"), Some(""), Some("http://one:1/")),
            // As in the AWS SDKs, a variable that is not used is not checked.
            (Some("http://one:1"), Some("all:2 "), Some("http://one:1/")),
            (Some(""), Some(""), None),
            (None, None, None),
        ] {
            let config = Config::from_lookup(move |name| {
                let value = match name {
                    "AWS_ENDPOINT_URL_DYNAMODB" => of_service,
                    "AWS_ENDPOINT_URL" => of_all,
                    _ => None,
                };
                value.map(str::to_owned)
            });
            let endpoint = config.aws_endpoint("AWS_ENDPOINT_URL_DYNAMODB").unwrap();
            assert_eq!(endpoint.as_ref().map(Url::as_str), expected, "{of_service:?}, {of_all:?}");
        }
    }

    #[test]
    fn an_error_names_the_variable_without_its_value() {
        let error = |value: &str, read: fn(&Config) -> Option<ConfigError>| {
            let text = read(&with("NAME", value)).unwrap().to_string();
            assert!(text.contains("NAME") && !text.contains(value), "{text}");
        };
        for address in ["not an address", "ftp://names.example", "127.0.0.1:8000", "http://one.example/?a=b"]
        {
            error(address, |config| config.address("NAME").err());
            error(address, |config| config.aws_endpoint("NAME").err());
        }
        error("a\r\nb", |config| config.header("NAME").err());
        error("yes", |config| config.is_on("NAME").err());
    }

    #[test]
    fn a_secret_has_at_least_sixteen_visible_characters() {
        for value in ["short", "fifteen-letters", " fifteen-letters\n", "SIXTEEN-LETTERS-\u{c9}"] {
            let text = with("NAME", value).secret("NAME").unwrap_err().to_string();
            assert!(text.contains("NAME") && !text.contains(value.trim()), "{text}");
        }
        let secret = with("NAME", "sixteen-letters!\r\n").secret("NAME").unwrap().unwrap();
        assert_eq!(secret, "sixteen-letters!");
        assert!(!format!("{secret:?}").contains("sixteen"));
    }

    #[test]
    fn debug_output_has_no_values() {
        assert!(!format!("{:?}", with("HYPIXEL_API_KEY", "s3cret-s3cret-s3cret")).contains("s3cret"));
    }
}
