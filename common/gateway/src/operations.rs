//! The operations of API Gateway on keys and usage plans, with the fields that this service reads.

use std::collections::BTreeMap;
use std::time::Duration;

use aws::{AwsError, Client, Identity, JSON, Request, Service};
use bytes::Bytes;
use common::config::Config;
use common::upstream::http::ClientError;
use reqwest::{Method, Url};
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

/// The only key type that usage plans accept.
const KEY_TYPE: &str = "API_KEY";

#[derive(Deserialize)]
struct ApiKey {
    id: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct ApiKeys {
    #[serde(default)]
    item: Vec<ApiKey>,
}

/// The response of `GetUsage`.
#[derive(Deserialize)]
struct UsageOfPlan {
    /// By the id of the key: the used and the remaining requests of each day.
    #[serde(default)]
    values: BTreeMap<String, Vec<[i64; 2]>>,
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
        let endpoint = config.aws_endpoint("AWS_ENDPOINT_URL_API_GATEWAY")?;
        Client::new(&API_GATEWAY, endpoint.as_ref().map(Url::as_str), Some(identity)).map(Self)
    }

    pub(crate) async fn find_api_key(&self, name: &str) -> Result<Option<String>, AwsError> {
        const OPERATION: &str = "GetApiKeys";
        // The documentation calls the parameter `nameQuery`.
        let query = [("name", name)];
        let keys = self.send(OPERATION, Method::GET, &["apikeys"], &query, None).await?;
        let ApiKeys { item } = parse(OPERATION, &keys)?;
        // API Gateway also finds longer names.
        Ok(item.into_iter().find(|key| key.name == name).map(|key| key.id))
    }

    /// Creates an enabled key, and returns its id.
    pub(crate) async fn create_api_key(&self, name: &str, value: &str) -> Result<String, AwsError> {
        const OPERATION: &str = "CreateApiKey";
        let body = serialized(OPERATION, &NewApiKey { name, value, enabled: true })?;
        let created = self.send(OPERATION, Method::POST, &["apikeys"], &[], Some(body)).await?;
        parse(OPERATION, &created).map(|key: ApiKey| key.id)
    }

    pub(crate) async fn delete_api_key(&self, key: &str) -> Result<(), AwsError> {
        let path = ["apikeys", key];
        self.send("DeleteApiKey", Method::DELETE, &path, &[], None).await.map(drop)
    }

    /// Adds the key to the plan.
    pub(crate) async fn create_usage_plan_key(&self, plan: &str, key: &str) -> Result<(), AwsError> {
        const OPERATION: &str = "CreateUsagePlanKey";
        let path = ["usageplans", plan, "keys"];
        let body = serialized(OPERATION, &NewUsagePlanKey { key_id: key, key_type: KEY_TYPE })?;
        self.send(OPERATION, Method::POST, &path, &[], Some(body)).await.map(drop)
    }

    /// Returns the used and the remaining requests of the key for each day from `first` to `last`, such as
    /// `2026-11-20`. Empty if the key has no requests in these days.
    pub(crate) async fn get_usage(
        &self,
        plan: &str,
        key: &str,
        first: &str,
        last: &str,
    ) -> Result<Vec<[i64; 2]>, AwsError> {
        const OPERATION: &str = "GetUsage";
        let path = ["usageplans", plan, "usage"];
        let query = [("keyId", key), ("startDate", first), ("endDate", last)];
        let usage = self.send(OPERATION, Method::GET, &path, &query, None).await?;
        parse(OPERATION, &usage).map(|UsageOfPlan { mut values }| values.remove(key).unwrap_or_default())
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
