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
    /// Returns the table of histories, for a function.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn history(config: &Config) -> Result<Self, ClientError> {
        Self::of_function(config, &config.history_table)
    }

    /// Returns the table of accounts and keys, for a function.
    ///
    /// # Errors
    /// If the TLS stack cannot be set up.
    pub fn access(config: &Config) -> Result<Self, ClientError> {
        Self::of_function(config, &config.access_table)
    }

    fn of_function(config: &Config, name: &str) -> Result<Self, ClientError> {
        let http = http::client(|client| client)?;
        let url = config
            .dynamodb_endpoint
            .clone()
            .or_else(|| Url::parse(&format!("https://dynamodb.{}.amazonaws.com", config.aws_region)).ok());
        let client = client::of_function(config, http.clone());
        Ok(Self { client, connection: url.map(|url| (http, url)), name: name.to_owned() })
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
