//! The API keys of API Gateway. For each of our keys, API Gateway has a separate key in the usage plan of the account's tier. The value of
//! the API Gateway key is our KEY-ID, which the authorizer returns and under which API Gateway counts requests. A KEY-ID is not secret,
//! because the service does not accept it as a key.

use std::collections::BTreeMap;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region};
use aws_sdk_apigateway::Client;
use aws_sdk_apigateway::config::{Builder, SharedCredentialsProvider};
use common::auth::{KeyId, KeyRecord, Tier};
use common::config::Config;
use common::upstream::http::{self, ClientError};
use tables::{SdkConfig, connector};

use crate::aws::{AwsError, configure, send};

const SERVICE: &str = "API Gateway";
/// The number of keys or plans per page: the maximum of API Gateway.
const PAGE: i32 = 500;
/// The only key type that usage plans accept.
const KEY_TYPE: &str = "API_KEY";

/// The usage plans of this stack, and all API Gateway keys of its AWS account and region.
#[derive(Debug)]
pub(crate) struct Gateway {
    client: Client,
    starter: String,
    pro: String,
}

/// A key in API Gateway.
#[derive(Debug, Clone)]
pub(crate) struct GatewayKey {
    /// Its id in API Gateway, not our KEY-ID.
    pub(crate) id: String,
    /// False if an operator has disabled the key in the console of API Gateway.
    pub(crate) enabled: bool,
}

/// The usage plan of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Of(Tier),
    None,
}

impl Gateway {
    /// Returns the API Gateway that the environment names, or `None` if it names no usage plans, as in the local cloud.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn of_function(config: &Config) -> Result<Option<Self>, ClientError> {
        let Config { starter_usage_plan, pro_usage_plan, .. } = config;
        if starter_usage_plan.is_empty() || pro_usage_plan.is_empty() {
            return Ok(None);
        }
        let sdk = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(config.aws_region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(
                EnvironmentVariableCredentialsProvider::new(),
            ))
            .http_client(connector::over(http::client(|client| client)?))
            .build();
        let mut builder = Builder::from(&configure(&sdk));
        builder.set_endpoint_url(config.api_gateway_endpoint.clone());
        Ok(Some(Self {
            client: Client::from_conf(builder.build()),
            starter: starter_usage_plan.clone(),
            pro: pro_usage_plan.clone(),
        }))
    }

    fn plan(&self, tier: Tier) -> &str {
        match tier {
            Tier::Starter => &self.starter,
            Tier::Pro => &self.pro,
        }
    }

    /// Returns all keys, indexed by value. API Gateway itself cannot search by value.
    pub(crate) async fn keys(&self) -> Result<BTreeMap<String, GatewayKey>, AwsError> {
        let request = self.client.get_api_keys().include_values(true).into_paginator().page_size(PAGE);
        let mut pages = request.send();
        let mut keys = BTreeMap::new();
        loop {
            let page = send(SERVICE, "GetApiKeys", async { pages.next().await.transpose() }).await?;
            let Some(page) = page else { return Ok(keys) };
            for key in page.items.unwrap_or_default() {
                if let (Some(id), Some(value)) = (key.id, key.value) {
                    keys.insert(value, GatewayKey { id, enabled: key.enabled });
                }
            }
        }
    }

    /// Returns the API Gateway key for our key with this id, if there is one.
    pub(crate) async fn find(&self, id: &KeyId) -> Result<Option<GatewayKey>, AwsError> {
        Ok(self.keys().await?.remove(id.as_str()))
    }

    /// Creates an API Gateway key for our key, or returns the existing one.
    pub(crate) async fn create(&self, key: &KeyRecord) -> Result<GatewayKey, AwsError> {
        let request = self
            .client
            .create_api_key()
            .name(format!("{} {}", key.account, key.label))
            .value(key.id().as_str())
            .enabled(true);
        match send(SERVICE, "CreateApiKey", request.send()).await {
            Ok(created) => created_key(created.id, created.enabled),
            // An earlier attempt may have created the key, but its response was lost.
            Err(error) if error.is("ConflictException") => self.find(&key.id()).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Moves the key to the plan of the tier. Returns false if it was already in that plan and in no other plan of this stack. During the
    /// move the key is in no plan, because API Gateway allows a key only one plan per stage.
    pub(crate) async fn move_to(&self, tier: Tier, key: &GatewayKey) -> Result<bool, AwsError> {
        let plans = self.plans_of(key).await?;
        let wanted = self.plan(tier);
        for other in plans.iter().filter(|plan| *plan != wanted && self.is_ours(plan)) {
            self.remove_from_plan(other, key).await?;
        }
        if plans.iter().any(|plan| plan == wanted) {
            return Ok(plans.iter().any(|plan| plan != wanted && self.is_ours(plan)));
        }
        let request =
            self.client.create_usage_plan_key().usage_plan_id(wanted).key_id(&key.id).key_type(KEY_TYPE);
        match send(SERVICE, "CreateUsagePlanKey", request.send()).await {
            Ok(_) => Ok(true),
            // An earlier attempt may have added the key. Otherwise the key is in a plan of this stage that our stack does not manage.
            Err(error) if error.is("ConflictException") => {
                let is_added = self.plans_of(key).await?.iter().any(|plan| plan == wanted);
                if is_added { Ok(true) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the tier in whose usage plan the key is, or `Plan::None`.
    pub(crate) async fn plan_of(&self, key: &GatewayKey) -> Result<Plan, AwsError> {
        let plans = self.plans_of(key).await?;
        let tier = Tier::ALL.into_iter().find(|tier| plans.iter().any(|plan| plan == self.plan(*tier)));
        Ok(tier.map_or(Plan::None, Plan::Of))
    }

    /// Removes the key from the plans of this stack, and deletes it unless another stack has it in a plan. Returns whether it deleted
    /// the key. Two stacks in the same AWS account and region share a key if one has imported the accounts of the other. A key that no
    /// longer exists is not an error.
    pub(crate) async fn delete(&self, key: &GatewayKey) -> Result<bool, AwsError> {
        let plans = self.plans_of(key).await?;
        for plan in plans.iter().filter(|plan| self.is_ours(plan)) {
            self.remove_from_plan(plan, key).await?;
        }
        if plans.iter().any(|plan| !self.is_ours(plan)) {
            return Ok(false);
        }
        let request = self.client.delete_api_key().api_key(&key.id);
        ignore_not_found(send(SERVICE, "DeleteApiKey", request.send()).await)?;
        Ok(true)
    }

    async fn remove_from_plan(&self, plan: &str, key: &GatewayKey) -> Result<(), AwsError> {
        let request = self.client.delete_usage_plan_key().usage_plan_id(plan).key_id(&key.id);
        ignore_not_found(send(SERVICE, "DeleteUsagePlanKey", request.send()).await)
    }

    /// Returns the id of every plan that has the key, including plans of other stacks.
    async fn plans_of(&self, key: &GatewayKey) -> Result<Vec<String>, AwsError> {
        let request = self.client.get_usage_plans().key_id(&key.id).into_paginator().page_size(PAGE);
        let mut pages = request.send();
        let mut plans = Vec::new();
        loop {
            let page = send(SERVICE, "GetUsagePlans", async { pages.next().await.transpose() }).await?;
            let Some(page) = page else { return Ok(plans) };
            plans.extend(page.items.unwrap_or_default().into_iter().filter_map(|plan| plan.id));
        }
    }

    fn is_ours(&self, plan: &str) -> bool {
        plan == self.starter || plan == self.pro
    }
}

fn created_key(id: Option<String>, enabled: bool) -> Result<GatewayKey, AwsError> {
    let id = id.ok_or_else(|| AwsError {
        service: SERVICE,
        operation: "CreateApiKey",
        code: None,
        cause: "the response has no id".to_owned(),
    })?;
    Ok(GatewayKey { id, enabled })
}

fn ignore_not_found<T>(result: Result<T, AwsError>) -> Result<(), AwsError> {
    match result {
        Err(error) if !error.is("NotFoundException") => Err(error),
        _ => Ok(()),
    }
}
