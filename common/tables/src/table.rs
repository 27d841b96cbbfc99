//! One table: its client and its name. A `Session` operates on it.

use aws_sdk_dynamodb::Client;
use common::config::Config;
use common::upstream::http::{self, ClientError};
use reqwest::Url;

use crate::client;

#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    /// The HTTP client and the address for [`Table::warm_up`].
    connection: Option<(reqwest::Client, Url)>,
    name: String,
}

impl Table {
    /// Returns the name of the table of histories: that of the environment, or else `History`.
    #[must_use]
    pub fn name_of_history(config: &Config) -> String {
        config.text("HISTORY_TABLE").unwrap_or_else(|| "History".to_owned())
    }

    /// Returns the table of histories, for a function.
    pub fn history(config: &Config) -> Result<Self, ClientError> {
        Self::of_function(config, Self::name_of_history(config))
    }

    /// Returns the table of accounts and keys, for a function.
    pub fn access(config: &Config) -> Result<Self, ClientError> {
        let name = config.text("ACCESS_TABLE").unwrap_or_else(|| "Access".to_owned());
        Self::of_function(config, name)
    }

    fn of_function(config: &Config, name: String) -> Result<Self, ClientError> {
        let (http, endpoint) = (http::client(|client| client)?, config.aws_endpoint(client::ENDPOINT)?);
        let client = client::of_function(config.region(), endpoint.as_ref(), http.clone());
        let of_region = || Url::parse(&format!("https://dynamodb.{}.amazonaws.com", config.region())).ok();
        let url = endpoint.or_else(of_region);
        Ok(Self { client, connection: url.map(|url| (http, url)), name })
    }

    /// Returns the table `name`, for a tool.
    #[must_use]
    pub fn of_sdk(sdk: &aws_config::SdkConfig, name: &str) -> Self {
        Self { client: client::of_sdk(sdk), connection: None, name: name.to_owned() }
    }

    /// Opens a connection while the function starts.
    pub async fn warm_up(&self) {
        if let Some((http, url)) = &self.connection {
            http::warm_up(http, url).await;
        }
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// The name in `DynamoDB`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
