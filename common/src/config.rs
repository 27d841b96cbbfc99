//! The environment variables of the functions, parsed once at start-up, except credentials and the address of S3, which the clients read
//! themselves. White space around a value is removed. A variable without a value then counts as unset, because a template cannot omit a
//! variable.

use std::time::Duration;

use lambda_http::http::HeaderValue;
use reqwest::Url;

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

/// Whether API Gateway caches this function's responses (template parameter `GatewayCache`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCache {
    /// API Gateway stores any response of the function, whatever its status, and replays it for the route's TTL.
    On,
    /// Every request reaches a function.
    Off,
}

/// The commands that a function of accounts and keys accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllowedCommands {
    #[default]
    All,
    /// Only the commands on the keys of one account.
    Keys,
}

/// The environment of a function.
#[derive(Debug)]
pub struct Config {
    /// `HYPIXEL_BASE_URL`: the base address of the game's provider.
    pub hypixel_base_url: Url,
    /// `MOJANG_BASE_URL`: the base address of the name service.
    pub mojang_base_url: Url,
    /// `HYPIXEL_API_KEY`: the provider's key, for player data. Marked as sensitive, so `Debug` does not print it.
    pub hypixel_api_key: Option<HeaderValue>,
    /// `USER_AGENT`: the header that the service sends to upstreams.
    pub user_agent: HeaderValue,
    /// `GatewayCache`: `on` or `off`; `off` if absent, as in local runs.
    pub gateway_cache: GatewayCache,
    /// `DOCUMENTATION_URL`: the address of the documentation, for `GET /`; empty if the OpenAPI document is the documentation.
    pub documentation_url: String,
    /// `DASHBOARD_URL`: the address where users get their keys, for the market page; empty if absent.
    pub dashboard_url: String,
    /// `PUBLIC_FILES_URL`: the address of the public files, for the pages and the index, absolute or relative to the page; empty if absent.
    pub public_files_url: String,
    /// `HISTORY_TABLE`: the name of the table of histories; `History` if absent.
    pub history_table: String,
    /// `ACCESS_TABLE`: the name of the table of accounts and keys; `Access` if absent.
    pub access_table: String,
    /// `ALLOWED_COMMANDS`: `all` or `keys`, for the functions of accounts and keys; `all` if absent.
    pub allowed_commands: AllowedCommands,
    /// `STACK_NAME`: the name of the stack; empty if absent.
    pub stack_name: String,
    /// `FREE_USAGE_PLAN`: the id of the usage plan of the tier Free; empty if there is no such plan.
    pub free_usage_plan: String,
    /// `STARTER_USAGE_PLAN`: the id of the usage plan of the tier Starter; empty if absent.
    pub starter_usage_plan: String,
    /// `PRO_USAGE_PLAN`: the id of the usage plan of the tier Pro; empty if absent.
    pub pro_usage_plan: String,
    /// `FREE_LIMITS`, `STARTER_LIMITS` and `PRO_LIMITS`: the limits of the usage plans as `RATE BURST QUOTA`, and `PROFILE_LIMITS`, `RATE BURST`;
    /// empty if absent.
    pub limits: [String; 4],
    /// `GATEWAY_KEY_DELAY`: how long after a key was attached to a usage plan API Gateway may still refuse it, in whole seconds; 0 if absent.
    pub gateway_key_delay: Duration,
    /// `PUBLIC_FILES`: where the recorders write the public files, `s3://BUCKET` or `file:///FOLDER`; they write no files if absent.
    pub public_files: Option<Url>,
    /// `STRIPE_TEST_MODE`: whether events of Stripe's test mode change accounts, `on` or `off`; `off` if absent.
    pub stripe_test_mode: bool,
    /// `PRICE_TIERS`: the tier of each price, as `PRICE=TIER` separated by commas; empty if absent.
    pub price_tiers: String,
    /// `GRACE_DAYS`: how long a subscription is accepted after its paid period, in whole days; 0 if absent.
    pub grace: Duration,
    /// `AWS_REGION`: the region of the function and its tables. Lambda sets it.
    pub aws_region: String,
    /// `AWS_ENDPOINT_URL_DYNAMODB`, otherwise `AWS_ENDPOINT_URL`: the address of DynamoDB; the region's address if absent.
    pub dynamodb_endpoint: Option<Url>,
    /// `AWS_ENDPOINT_URL_API_GATEWAY`, otherwise `AWS_ENDPOINT_URL`: the address of API Gateway; the region's address if absent.
    pub api_gateway_endpoint: Option<String>,
}

/// A shorter secret can be guessed, or is not the whole secret.
const SHORTEST_SECRET: usize = 16;

// The variables with the addresses of DynamoDB and API Gateway. As in the AWS SDKs, the variable of one service wins over the
// variable of all services.
const DYNAMODB_ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"];
const API_GATEWAY_ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_API_GATEWAY", "AWS_ENDPOINT_URL"];

impl Config {
    /// Reads the configuration from the environment.
    ///
    /// # Errors
    /// The first variable that cannot be used.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Reads the configuration from `lookup`, which returns variables by name.
    ///
    /// # Errors
    /// The first variable that cannot be used.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let set =
            |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        Ok(Self {
            hypixel_base_url: base_url(
                "HYPIXEL_BASE_URL",
                set("HYPIXEL_BASE_URL"),
                "https://api.hypixel.net",
            )?,
            mojang_base_url: base_url("MOJANG_BASE_URL", set("MOJANG_BASE_URL"), "https://api.mojang.com")?,
            hypixel_api_key: set("HYPIXEL_API_KEY").map(|key| secret("HYPIXEL_API_KEY", &key)).transpose()?,
            user_agent: user_agent(set("USER_AGENT"))?,
            gateway_cache: if is_on("GatewayCache", set("GatewayCache").as_deref())? {
                GatewayCache::On
            } else {
                GatewayCache::Off
            },
            documentation_url: set("DOCUMENTATION_URL").unwrap_or_default(),
            dashboard_url: set("DASHBOARD_URL").unwrap_or_default(),
            public_files_url: set("PUBLIC_FILES_URL").unwrap_or_default(),
            history_table: set("HISTORY_TABLE").unwrap_or_else(|| "History".to_owned()),
            access_table: set("ACCESS_TABLE").unwrap_or_else(|| "Access".to_owned()),
            allowed_commands: allowed_commands(set("ALLOWED_COMMANDS").as_deref())?,
            stack_name: set("STACK_NAME").unwrap_or_default(),
            free_usage_plan: set("FREE_USAGE_PLAN").unwrap_or_default(),
            starter_usage_plan: set("STARTER_USAGE_PLAN").unwrap_or_default(),
            pro_usage_plan: set("PRO_USAGE_PLAN").unwrap_or_default(),
            limits: ["FREE_LIMITS", "STARTER_LIMITS", "PRO_LIMITS", "PROFILE_LIMITS"]
                .map(|name| set(name).unwrap_or_default()),
            gateway_key_delay: set("GATEWAY_KEY_DELAY")
                .map_or(Ok(Duration::ZERO), |text| seconds("GATEWAY_KEY_DELAY", &text))?,
            public_files: set("PUBLIC_FILES").map(|url| public_files(&url)).transpose()?,
            stripe_test_mode: is_on("STRIPE_TEST_MODE", set("STRIPE_TEST_MODE").as_deref())?,
            price_tiers: set("PRICE_TIERS").unwrap_or_default(),
            grace: set("GRACE_DAYS").map_or(Ok(Duration::ZERO), |text| days("GRACE_DAYS", &text))?,
            aws_region: set("AWS_REGION").unwrap_or_else(|| "us-east-1".to_owned()),
            dynamodb_endpoint: DYNAMODB_ENDPOINTS
                .into_iter()
                .find_map(|variable| set(variable).map(|url| base_url(variable, Some(url), "")))
                .transpose()?,
            // Unparsed, because few functions need this address: an invalid address must not stop the other functions.
            api_gateway_endpoint: API_GATEWAY_ENDPOINTS.into_iter().find_map(set),
        })
    }

    /// Returns the origin of the public files, such as `https://files.example.org`; `None` if their address is relative.
    #[must_use]
    pub fn public_files_origin(&self) -> Option<String> {
        Url::parse(&self.public_files_url).ok().map(|url| url.origin().ascii_serialization())
    }
}

fn base_url(variable: &'static str, value: Option<String>, default: &str) -> Result<Url, ConfigError> {
    let text = value.unwrap_or_else(|| default.to_owned());
    Url::parse(&text)
        .ok()
        .filter(|url| {
            matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
        })
        .ok_or(ConfigError { variable, expected: "an http or https address without a query" })
}

fn public_files(text: &str) -> Result<Url, ConfigError> {
    let is_place = |url: &Url| match url.scheme() {
        "s3" => url.host_str().is_some(),
        scheme => scheme == "file",
    };
    let expected = "s3://BUCKET or file:///FOLDER";
    Url::parse(text).ok().filter(is_place).ok_or(ConfigError { variable: "PUBLIC_FILES", expected })
}

fn secret(variable: &'static str, value: &str) -> Result<HeaderValue, ConfigError> {
    let mut header = visible_ascii(variable, value)?;
    header.set_sensitive(true);
    if header.len() < SHORTEST_SECRET {
        return Err(ConfigError { variable, expected: "a secret of at least 16 characters" });
    }
    Ok(header)
}

fn seconds(variable: &'static str, text: &str) -> Result<Duration, ConfigError> {
    let number = text.parse().map_err(|_| ConfigError { variable, expected: "a whole number of seconds" })?;
    Ok(Duration::from_secs(number))
}

fn allowed_commands(value: Option<&str>) -> Result<AllowedCommands, ConfigError> {
    match value {
        None | Some("all") => Ok(AllowedCommands::All),
        Some("keys") => Ok(AllowedCommands::Keys),
        Some(_) => Err(ConfigError { variable: "ALLOWED_COMMANDS", expected: "all or keys" }),
    }
}

fn days(variable: &'static str, text: &str) -> Result<Duration, ConfigError> {
    let number =
        text.parse::<u16>().map_err(|_| ConfigError { variable, expected: "a whole number of days" })?;
    Ok(Duration::from_hours(24 * u64::from(number)))
}

fn user_agent(value: Option<String>) -> Result<HeaderValue, ConfigError> {
    let text =
        value.unwrap_or_else(|| concat!("game-data-query-service/", env!("CARGO_PKG_VERSION")).to_owned());
    visible_ascii("USER_AGENT", &text)
}

fn visible_ascii(variable: &'static str, text: &str) -> Result<HeaderValue, ConfigError> {
    let header = HeaderValue::from_str(text).ok().filter(|header| header.to_str().is_ok());
    header.ok_or(ConfigError { variable, expected: "one line of visible ASCII" })
}

fn is_on(variable: &'static str, value: Option<&str>) -> Result<bool, ConfigError> {
    match value {
        None | Some("off") => Ok(false),
        Some("on") => Ok(true),
        Some(_) => Err(ConfigError { variable, expected: "on or off" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Config, ConfigError> {
        Config::from_lookup(|requested| (requested == name).then(|| value.to_owned()))
    }

    #[test]
    fn an_empty_environment_selects_the_real_upstreams() {
        let config = with("", "").unwrap();
        assert_eq!(config.hypixel_base_url.as_str(), "https://api.hypixel.net/");
        assert_eq!(config.mojang_base_url.as_str(), "https://api.mojang.com/");
        assert_eq!(config.gateway_cache, GatewayCache::Off);
        assert!(config.hypixel_api_key.is_none());
    }

    #[test]
    fn a_variable_without_a_value_counts_as_unset() {
        let read = std::cell::RefCell::new(std::collections::BTreeSet::new());
        let unset = format!(
            "{:?}",
            Config::from_lookup(|name| {
                read.borrow_mut().insert(name.to_owned());
                None
            })
            .unwrap()
        );
        for variable in read.into_inner() {
            for value in ["", " ", "\n", " \r\n\t"] {
                let config = with(&variable, value).unwrap_or_else(|error| panic!("{variable}: {error}"));
                // The AWS SDK would panic at the first call if it read an empty endpoint itself.
                assert_eq!(format!("{config:?}"), unset, "{variable} {value:?}");
            }
        }
    }

    #[test]
    fn a_secret_has_at_least_sixteen_visible_characters() {
        for value in ["short", "fifteen-letters", " fifteen-letters\n", "SIXTEEN-LETTERS-\u{c9}"] {
            let text = with("HYPIXEL_API_KEY", value).unwrap_err().to_string();
            assert!(text.contains("HYPIXEL_API_KEY") && !text.contains(value.trim()), "{text}");
        }
        assert!(with("HYPIXEL_API_KEY", "sixteen-letters!\n").is_ok());
    }

    #[test]
    fn the_endpoint_of_dynamodb_wins_over_that_of_all_services() {
        for (of_dynamodb, of_all, expected) in [
            (Some("http://one:1"), Some("http://all:2"), Some("http://one:1/")),
            (None, Some("http://all:2"), Some("http://all:2/")),
            (Some(""), Some("http://all:2"), Some("http://all:2/")),
            (Some("http://one:1"), Some(""), Some("http://one:1/")),
            // As in the AWS SDKs, a variable that is not used is not checked.
            (Some("http://one:1"), Some("all:2 "), Some("http://one:1/")),
            (Some(""), Some(""), None),
            (None, None, None),
        ] {
            let config = Config::from_lookup(|name| {
                let value = match name {
                    "AWS_ENDPOINT_URL_DYNAMODB" => of_dynamodb,
                    "AWS_ENDPOINT_URL" => of_all,
                    _ => None,
                };
                value.map(str::to_owned)
            });
            let endpoint = config.unwrap().dynamodb_endpoint;
            assert_eq!(endpoint.as_ref().map(Url::as_str), expected, "{of_dynamodb:?}, {of_all:?}");
        }
    }

    #[test]
    fn an_error_names_the_variable_without_its_value() {
        for (name, value) in [
            ("HYPIXEL_BASE_URL", "not an address"),
            ("MOJANG_BASE_URL", "ftp://names.example"),
            ("HYPIXEL_API_KEY", "s3cret-s3cret\ns3cret-key"),
            ("USER_AGENT", "a\r\nb"),
            ("GatewayCache", "yes"),
            ("PUBLIC_FILES", "bucket"),
            ("STRIPE_TEST_MODE", "yes"),
            ("ALLOWED_COMMANDS", "some"),
            ("GATEWAY_KEY_DELAY", "two minutes"),
            ("GRACE_DAYS", "a few"),
            ("AWS_ENDPOINT_URL_DYNAMODB", "127.0.0.1:8000"),
            ("AWS_ENDPOINT_URL", "127.0.0.1:8001"),
        ] {
            let text = with(name, value).unwrap_err().to_string();
            assert!(text.contains(name), "{text}");
            assert!(!text.contains(value), "{text}");
        }
    }

    #[test]
    fn public_files_have_an_origin_unless_their_address_is_relative() {
        for (address, origin) in [
            ("https://files.example/public/", Some("https://files.example")),
            ("https://files.example; script-src *", None),
            ("public", None),
            ("", None),
        ] {
            let config = with("PUBLIC_FILES_URL", address).unwrap();
            assert_eq!(config.public_files_origin().as_deref(), origin, "{address}");
        }
    }

    #[test]
    fn a_line_break_at_the_end_of_the_key_is_removed() {
        let config = with("HYPIXEL_API_KEY", "s3cret-s3cret-s3cret\r\n").unwrap();
        assert_eq!(config.hypixel_api_key.unwrap(), "s3cret-s3cret-s3cret");
    }

    #[test]
    fn debug_output_does_not_contain_the_key() {
        let config = with("HYPIXEL_API_KEY", "s3cret-s3cret-s3cret").unwrap();
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
