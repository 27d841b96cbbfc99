//! The API keys of API Gateway. For each of our keys, API Gateway has a separate key in the usage plan of the account's tier. The value of
//! the API Gateway key is our KEY-ID, which the authorizer returns and under which API Gateway counts requests. A KEY-ID is not secret,
//! because the service does not accept it as a key.

mod operations;

use std::collections::BTreeMap;

use aws::AwsError;
use common::auth::{KeyId, KeyRecord, Tier};
use common::config::Config;
use common::upstream::http::ClientError;

use self::operations::{ApiKey, Operations};

/// The usage plans of this stack, and all API Gateway keys of its AWS account and region.
#[derive(Debug)]
pub struct Gateway {
    operations: Operations,
    starter: String,
    pro: String,
}

/// A key in API Gateway.
#[derive(Debug, Clone)]
pub struct GatewayKey {
    /// Its id in API Gateway, not our KEY-ID.
    pub id: String,
    /// False if an operator has disabled the key in the console of API Gateway.
    pub enabled: bool,
}

/// The usage plan of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    Of(Tier),
    None,
}

impl Gateway {
    /// Returns the API Gateway that the environment names, or `None` if it names no usage plans, as in the local cloud.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn of_function(config: &Config) -> Result<Option<Self>, ClientError> {
        let Config { starter_usage_plan, pro_usage_plan, .. } = config;
        if starter_usage_plan.is_empty() || pro_usage_plan.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            operations: Operations::of_function(config)?,
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
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn keys(&self) -> Result<BTreeMap<String, GatewayKey>, AwsError> {
        let keys = self.operations.get_api_keys().await?.into_iter();
        let by_value = |key: ApiKey| Some((key.value?, GatewayKey { id: key.id, enabled: key.enabled }));
        Ok(keys.filter_map(by_value).collect())
    }

    /// Returns the API Gateway key for our key with this id, if there is one.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn find(&self, id: &KeyId) -> Result<Option<GatewayKey>, AwsError> {
        Ok(self.keys().await?.remove(id.as_str()))
    }

    /// Creates an API Gateway key for our key, or returns the existing one.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn create(&self, key: &KeyRecord) -> Result<GatewayKey, AwsError> {
        let name = format!("{} {}", key.account, key.label);
        match self.operations.create_api_key(&name, key.id().as_str()).await {
            Ok(created) => Ok(GatewayKey { id: created.id, enabled: created.enabled }),
            // An earlier attempt may have created the key, but its response was lost.
            Err(error) if error.is("ConflictException") => self.find(&key.id()).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Moves the key to the plan of the tier. Returns false if it was already in that plan and in no other plan of this stack. During the
    /// move the key is in no plan, because API Gateway allows a key only one plan per stage.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn move_to(&self, tier: Tier, key: &GatewayKey) -> Result<bool, AwsError> {
        let plans = self.plans_of(key).await?;
        let wanted = self.plan(tier);
        for other in plans.iter().filter(|plan| *plan != wanted && self.is_ours(plan)) {
            self.remove_from_plan(other, key).await?;
        }
        if plans.iter().any(|plan| plan == wanted) {
            return Ok(plans.iter().any(|plan| plan != wanted && self.is_ours(plan)));
        }
        match self.operations.create_usage_plan_key(wanted, &key.id).await {
            Ok(()) => Ok(true),
            // An earlier attempt may have added the key. Otherwise the key is in a plan of this stage that our stack does not manage.
            Err(error) if error.is("ConflictException") => {
                let is_added = self.plans_of(key).await?.iter().any(|plan| plan == wanted);
                if is_added { Ok(true) } else { Err(error) }
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the tier in whose usage plan the key is, or `Plan::None`.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn plan_of(&self, key: &GatewayKey) -> Result<Plan, AwsError> {
        let plans = self.plans_of(key).await?;
        let tier = Tier::ALL.into_iter().find(|tier| plans.iter().any(|plan| plan == self.plan(*tier)));
        Ok(tier.map_or(Plan::None, Plan::Of))
    }

    /// Removes the key from the plans of this stack, and deletes it unless another stack has it in a plan. Returns whether it deleted
    /// the key. Two stacks in the same AWS account and region share a key if one has imported the accounts of the other. A key that no
    /// longer exists is not an error.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached.
    pub async fn delete(&self, key: &GatewayKey) -> Result<bool, AwsError> {
        let plans = self.plans_of(key).await?;
        for plan in plans.iter().filter(|plan| self.is_ours(plan)) {
            self.remove_from_plan(plan, key).await?;
        }
        if plans.iter().any(|plan| !self.is_ours(plan)) {
            return Ok(false);
        }
        ignore_not_found(self.operations.delete_api_key(&key.id).await)?;
        Ok(true)
    }

    async fn remove_from_plan(&self, plan: &str, key: &GatewayKey) -> Result<(), AwsError> {
        ignore_not_found(self.operations.delete_usage_plan_key(plan, &key.id).await)
    }

    /// Returns the id of every plan that has the key, including plans of other stacks.
    async fn plans_of(&self, key: &GatewayKey) -> Result<Vec<String>, AwsError> {
        let plans = self.operations.get_usage_plans(&key.id).await?;
        Ok(plans.into_iter().map(|plan| plan.id).collect())
    }

    fn is_ours(&self, plan: &str) -> bool {
        plan == self.starter || plan == self.pro
    }
}

fn ignore_not_found(result: Result<(), AwsError>) -> Result<(), AwsError> {
    match result {
        Err(error) if !error.is("NotFoundException") => Err(error),
        _ => Ok(()),
    }
}
