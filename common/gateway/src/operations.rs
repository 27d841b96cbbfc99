//! The operations of API Gateway on keys and usage plans, with the fields that this service reads.

use std::time::Duration;

use aws::{AwsError, Client, Identity, JSON, Request, Service};
use bytes::Bytes;
use common::config::Config;
use common::upstream::http::ClientError;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// API Gateway throttles early: it accepts a few requests per second from an AWS account.
static API_GATEWAY: Service = Service {
    title: "API Gateway",
    name: "apigateway",
    // Otherwise, responses are HAL documents.
    accepts: JSON,
    attempt_timeout: Duration::from_secs(10),
    attempts: 6,
    temporary: &[],
};

/// The number of entries per page: the maximum of API Gateway.
const PAGE: &str = "500";
/// The only key type that usage plans accept.
const KEY_TYPE: &str = "API_KEY";

#[derive(Debug, Deserialize)]
pub(crate) struct ApiKey {
    pub(crate) id: String,
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) enabled: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UsagePlan {
    pub(crate) id: String,
}

#[derive(Deserialize)]
struct Page<T> {
    #[serde(default = "Vec::new")]
    item: Vec<T>,
    /// Where the next page begins; absent on the last page.
    position: Option<String>,
}

#[derive(Serialize)]
struct NewApiKey<'a> {
    name: &'a str,
    value: &'a str,
    enabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewUsagePlanKey<'a> {
    key_id: &'a str,
    key_type: &'static str,
}

#[derive(Debug)]
pub(crate) struct Operations(Client);

impl Operations {
    pub(crate) fn of_function(config: &Config) -> Result<Self, ClientError> {
        let identity = Identity::of_function(config);
        Client::new(&API_GATEWAY, config.api_gateway_endpoint.as_deref(), Some(identity)).map(Self)
    }

    /// Returns all keys with their values.
    pub(crate) async fn get_api_keys(&self) -> Result<Vec<ApiKey>, AwsError> {
        self.list("GetApiKeys", "apikeys", ("includeValues", "true")).await
    }

    /// Creates an enabled key.
    pub(crate) async fn create_api_key(&self, name: &str, value: &str) -> Result<ApiKey, AwsError> {
        const OPERATION: &str = "CreateApiKey";
        let body = serialized(OPERATION, &NewApiKey { name, value, enabled: true })?;
        let created = self.send(OPERATION, Method::POST, &["apikeys"], &[], Some(body)).await?;
        parse(OPERATION, &created)
    }

    pub(crate) async fn delete_api_key(&self, key: &str) -> Result<(), AwsError> {
        let path = ["apikeys", key];
        self.send("DeleteApiKey", Method::DELETE, &path, &[], None).await.map(drop)
    }

    /// Returns the plans that have the key.
    pub(crate) async fn get_usage_plans(&self, key: &str) -> Result<Vec<UsagePlan>, AwsError> {
        self.list("GetUsagePlans", "usageplans", ("keyId", key)).await
    }

    /// Adds the key to the plan.
    pub(crate) async fn create_usage_plan_key(&self, plan: &str, key: &str) -> Result<(), AwsError> {
        const OPERATION: &str = "CreateUsagePlanKey";
        let path = ["usageplans", plan, "keys"];
        let body = serialized(OPERATION, &NewUsagePlanKey { key_id: key, key_type: KEY_TYPE })?;
        self.send(OPERATION, Method::POST, &path, &[], Some(body)).await.map(drop)
    }

    /// Removes the key from the plan.
    pub(crate) async fn delete_usage_plan_key(&self, plan: &str, key: &str) -> Result<(), AwsError> {
        let path = ["usageplans", plan, "keys", key];
        self.send("DeleteUsagePlanKey", Method::DELETE, &path, &[], None).await.map(drop)
    }

    /// Returns the entries of all pages.
    async fn list<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        collection: &str,
        filter: (&str, &str),
    ) -> Result<Vec<T>, AwsError> {
        let mut entries = Vec::new();
        let mut position = None::<String>;
        loop {
            let mut query = vec![filter, ("limit", PAGE)];
            query.extend(position.as_deref().map(|position| ("position", position)));
            let body = self.send(operation, Method::GET, &[collection], &query, None).await?;
            let page: Page<T> = parse(operation, &body)?;
            entries.extend(page.item);
            position = page.position.filter(|position| !position.is_empty());
            if position.is_none() {
                return Ok(entries);
            }
        }
    }

    async fn send(
        &self,
        operation: &'static str,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        json: Option<Vec<u8>>,
    ) -> Result<Bytes, AwsError> {
        let request = Request { operation, method, path, query, json };
        self.0.send(&request).await?.into_body()
    }
}

fn serialized(operation: &'static str, body: &impl Serialize) -> Result<Vec<u8>, AwsError> {
    serde_json::to_vec(body).map_err(|error| API_GATEWAY.failed(operation, error.to_string()))
}

fn parse<T: DeserializeOwned>(operation: &'static str, body: &[u8]) -> Result<T, AwsError> {
    let invalid = |error| API_GATEWAY.failed(operation, format!("unexpected response: {error}"));
    serde_json::from_slice(body).map_err(invalid)
}
