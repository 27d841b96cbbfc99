//! The keys of API Gateway: creating, attaching and deleting them.

use std::time::Duration;

use aws::AwsError;
use common::auth::{Account, AccountName, GatewayKey, Tier, UsageIdentifier};
use common::config::Config;
use common::time::UnixSeconds;
use common::upstream::http::ClientError;

use crate::operations::Operations;

/// The error code if a key has the same value, or is already in a plan of the stage.
const ALREADY_THERE: &str = "ConflictException";
const NOT_FOUND: &str = "NotFoundException";

/// The usage plans of this stack, and its keys in API Gateway.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) operations: Operations,
    stack: String,
    plans: [(Tier, String); 3],
    delay: Duration,
}

impl Gateway {
    /// Returns the API Gateway that the environment names.
    pub fn of_function(config: &Config) -> Result<Self, ClientError> {
        let plan = |variable| config.text(variable).unwrap_or_default();
        let delay = config.value("GATEWAY_KEY_DELAY", "a whole number of seconds", |text| {
            text.parse().ok().map(Duration::from_secs)
        })?;
        Ok(Self {
            operations: Operations::of_function(config)?,
            stack: config.text("STACK_NAME").unwrap_or_default(),
            plans: [
                (Tier::Free, plan("FREE_USAGE_PLAN")),
                (Tier::Starter, plan("STARTER_USAGE_PLAN")),
                (Tier::Pro, plan("PRO_USAGE_PLAN")),
            ],
            delay: delay.unwrap_or_default(),
        })
    }

    /// Returns the id of the usage plan of the tier; `None` if the operator does not offer the tier.
    #[must_use]
    pub fn plan(&self, tier: Tier) -> Option<&str> {
        let plan = self.plans.iter().find(|(of, _)| *of == tier).map(|(_, plan)| plan.as_str());
        plan.filter(|plan| !plan.is_empty())
    }

    /// Whether the account has a key of the tier in the present plan, according to its row.
    #[must_use]
    pub fn has_key(&self, account: &Account, tier: Tier) -> bool {
        let key = account.gateway_keys.get(&tier);
        key.is_some_and(|key| !key.is_being_deleted && self.plan(tier) == Some(key.plan.as_str()))
    }

    /// Creates the account's key of the tier and adds it to the plan, unless API Gateway has it already.
    /// Changes `account` accordingly, also if it names a key that no longer exists. Does nothing if the
    /// operator does not offer the tier. The account has no key of the tier that is being deleted.
    ///
    /// # Errors
    /// If API Gateway refuses a request or cannot be reached. A repetition completes the rest.
    pub async fn complete(
        &self,
        account: &mut Account,
        tier: Tier,
        now: UnixSeconds,
    ) -> Result<(), AwsError> {
        let Some(plan) = self.plan(tier) else { return Ok(()) };
        let known = account.gateway_keys.get(&tier).filter(|key| key.plan == plan);
        if let Some(known) = known {
            match self.operations.create_usage_plan_key(plan, &known.id).await {
                Err(error) if error.is(ALREADY_THERE) => return Ok(()),
                Err(error) if !error.is(NOT_FOUND) => return Err(error),
                _ => {}
            }
        }
        let id = self.create(&account.name, tier).await?;
        let is_attached = match self.operations.create_usage_plan_key(plan, &id).await {
            Ok(()) => true,
            Err(error) if error.is(ALREADY_THERE) => false,
            Err(error) => return Err(error),
        };
        // If the key was already in the plan but the account does not know since when, it may have been added
        // a moment ago.
        if is_attached || known.is_none_or(|known| known.id != id) {
            let usable_from = now.plus(self.delay);
            account
                .gateway_keys
                .insert(tier, GatewayKey { id, plan: plan.to_owned(), usable_from, is_being_deleted: false });
        }
        Ok(())
    }

    /// Creates the key, and returns its id. If an earlier attempt has created the key, returns the id of that
    /// one.
    async fn create(&self, name: &AccountName, tier: Tier) -> Result<String, AwsError> {
        let value = UsageIdentifier::new(&self.stack, name, tier);
        let name = format!("{}-{}", self.stack, value.as_str());
        match self.operations.create_api_key(&name, value.as_str()).await {
            Err(error) if error.is(ALREADY_THERE) => self.operations.find_api_key(&name).await?.ok_or(error),
            created => created,
        }
    }

    /// Deletes the key, which also removes it from its plan. A key that no longer exists is not an error.
    pub async fn delete(&self, key: &GatewayKey) -> Result<(), AwsError> {
        match self.operations.delete_api_key(&key.id).await {
            Err(error) if !error.is(NOT_FOUND) => Err(error),
            _ => Ok(()),
        }
    }
}
