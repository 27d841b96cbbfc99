//! What API Gateway knows of our keys: for each an API key of its own, whose value is our KEY-ID, in the usage plan of the
//! account's tier. The authorizer names that value, and the gateway counts. It is no secret: whoever knows it cannot ask.

use std::collections::BTreeMap;

use aws_sdk_apigateway::Client;
use aws_sdk_apigateway::config::Builder;
use common::auth::{KeyId, KeyRecord, Tier};
use tables::SdkConfig;

use crate::error::Error;
use crate::service::{ServiceError, answered, patient};
use crate::stack::Stack;

const SERVICE: &str = "API Gateway";
/// The variable with API Gateway's endpoint.
const ENDPOINT: &str = "AWS_ENDPOINT_URL_API_GATEWAY";
/// How many keys or plans a page holds: the most that there may be.
const PAGE: i32 = 500;
/// The only type of key in a usage plan.
const KEY_TYPE: &str = "API_KEY";

/// The usage plans of a stack, and the keys of its AWS account and region.
#[derive(Debug)]
pub(crate) struct Gateway {
    client: Client,
    starter: String,
    pro: String,
}

/// API Gateway's own key for one of ours.
#[derive(Debug, Clone)]
pub(crate) struct GatewayKey {
    /// What API Gateway calls it.
    id: String,
    /// Somebody may have switched it off in the console.
    pub(crate) enabled: bool,
}

/// In which of the stack's usage plans a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    Of(Tier),
    None,
}

impl Gateway {
    /// That of this stack.
    ///
    /// # Errors
    /// If the stack does not say which its usage plans are.
    pub(crate) fn of(stack: &Stack, sdk: &SdkConfig) -> Result<Self, Error> {
        let sdk = patient(sdk);
        let mut builder = Builder::from(&sdk);
        if tables::is_empty_variable(ENDPOINT) {
            builder.set_endpoint_url(sdk.endpoint_url().map(str::to_owned));
        }
        Ok(Self {
            client: Client::from_conf(builder.build()),
            starter: stack.output("StarterUsagePlan")?.to_owned(),
            pro: stack.output("ProUsagePlan")?.to_owned(),
        })
    }

    fn plan(&self, tier: Tier) -> &str {
        match tier {
            Tier::Starter => &self.starter,
            Tier::Pro => &self.pro,
        }
    }

    /// All keys by value: there is no other way to look for a value.
    pub(crate) async fn keys(&self) -> Result<BTreeMap<String, GatewayKey>, ServiceError> {
        let request = self.client.get_api_keys().include_values(true).into_paginator().page_size(PAGE);
        let mut pages = request.send();
        let mut keys = BTreeMap::new();
        loop {
            let page = answered(SERVICE, "GetApiKeys", async { pages.next().await.transpose() }).await?;
            let Some(page) = page else { return Ok(keys) };
            for key in page.items.unwrap_or_default() {
                if let (Some(id), Some(value)) = (key.id, key.value) {
                    keys.insert(value, GatewayKey { id, enabled: key.enabled });
                }
            }
        }
    }

    /// The key for ours, if there is one.
    pub(crate) async fn find(&self, id: &KeyId) -> Result<Option<GatewayKey>, ServiceError> {
        Ok(self.keys().await?.remove(id.as_str()))
    }

    /// A new key for ours, or the one that is there.
    pub(crate) async fn create(&self, key: &KeyRecord) -> Result<GatewayKey, ServiceError> {
        let request = self
            .client
            .create_api_key()
            .name(format!("{} {}", key.account, key.label))
            .value(key.id().as_str())
            .enabled(true);
        match answered(SERVICE, "CreateApiKey", request.send()).await {
            Ok(created) => read(created.id, created.enabled),
            // An attempt before may have made it, and its answer got lost.
            Err(error) if error.is("ConflictException") => self.find(&key.id()).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Puts the key into the plan of the tier and takes it out of the other, and says whether that had to be done. Between
    /// the two it is in none: the gateway does not let a key be in two plans of one stage.
    pub(crate) async fn put_into(&self, tier: Tier, key: &GatewayKey) -> Result<bool, ServiceError> {
        let plans = self.plans_of(key).await?;
        let wanted = self.plan(tier);
        for other in plans.iter().filter(|plan| *plan != wanted && self.is_ours(plan)) {
            self.take_out(other, key).await?;
        }
        if plans.iter().any(|plan| plan == wanted) {
            return Ok(plans.iter().any(|plan| plan != wanted && self.is_ours(plan)));
        }
        let request = self.client.create_usage_plan_key().usage_plan_id(wanted);
        let request = request.key_id(&key.id).key_type(KEY_TYPE);
        match answered(SERVICE, "CreateUsagePlanKey", request.send()).await {
            Ok(_) => Ok(true),
            // As above: it may be there by an attempt before. Or it is in a plan of this stage that is not ours.
            Err(error) if error.is("ConflictException") => {
                let is_there = self.plans_of(key).await?.iter().any(|plan| plan == wanted);
                if is_there { Ok(true) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// In which plan the key is.
    pub(crate) async fn plan_of(&self, key: &GatewayKey) -> Result<Plan, ServiceError> {
        let plans = self.plans_of(key).await?;
        let tier = Tier::ALL.into_iter().find(|tier| plans.iter().any(|plan| plan == self.plan(*tier)));
        Ok(tier.map_or(Plan::None, Plan::Of))
    }

    /// Takes the key out of its plan and deletes it. One that is gone is fine.
    pub(crate) async fn delete(&self, key: &GatewayKey) -> Result<(), ServiceError> {
        for plan in self.plans_of(key).await?.iter().filter(|plan| self.is_ours(plan)) {
            self.take_out(plan, key).await?;
        }
        let request = self.client.delete_api_key().api_key(&key.id);
        unless_gone(answered(SERVICE, "DeleteApiKey", request.send()).await)
    }

    async fn take_out(&self, plan: &str, key: &GatewayKey) -> Result<(), ServiceError> {
        let request = self.client.delete_usage_plan_key().usage_plan_id(plan).key_id(&key.id);
        unless_gone(answered(SERVICE, "DeleteUsagePlanKey", request.send()).await)
    }

    /// Every plan that the key is in, those of other stacks included.
    async fn plans_of(&self, key: &GatewayKey) -> Result<Vec<String>, ServiceError> {
        let request = self.client.get_usage_plans().key_id(&key.id).into_paginator().page_size(PAGE);
        let mut pages = request.send();
        let mut plans = Vec::new();
        loop {
            let page = answered(SERVICE, "GetUsagePlans", async { pages.next().await.transpose() }).await?;
            let Some(page) = page else { return Ok(plans) };
            plans.extend(page.items.unwrap_or_default().into_iter().filter_map(|plan| plan.id));
        }
    }

    fn is_ours(&self, plan: &str) -> bool {
        plan == self.starter || plan == self.pro
    }
}

fn read(id: Option<String>, enabled: bool) -> Result<GatewayKey, ServiceError> {
    let id = id.ok_or_else(|| ServiceError {
        service: SERVICE,
        operation: "CreateApiKey",
        code: None,
        cause: "the new key has no id".to_owned(),
    })?;
    Ok(GatewayKey { id, enabled })
}

fn unless_gone<T>(result: Result<T, ServiceError>) -> Result<(), ServiceError> {
    match result {
        Err(error) if !error.is("NotFoundException") => Err(error),
        _ => Ok(()),
    }
}
