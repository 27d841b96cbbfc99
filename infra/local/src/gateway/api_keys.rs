//! The API keys of API Gateway, and the usage plan that each is attached to. The control plane changes them,
//! and each request that requires a key looks its plan up here. They are in memory only.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use simulator::Clock;

use crate::template::UsagePlan;

/// The lengths of a value that API Gateway accepts.
const VALUE_CHARACTERS: RangeInclusive<usize> = 20..=128;
/// The length of an id, as on AWS.
const ID_CHARACTERS: usize = 10;

/// Why the control plane refuses a request: the message of its response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiKeyError {
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    Conflict(String),
    #[error("{0}")]
    NotFound(String),
}

#[derive(Clone)]
pub(super) struct ApiKey {
    pub(super) id: String,
    pub(super) name: String,
    /// The `usageIdentifierKey` of authorizers.
    pub(super) value: String,
    pub(super) enabled: bool,
    pub(super) created_at_ms: i64,
    attachment: Option<Attachment>,
}

#[derive(Clone)]
struct Attachment {
    plan: String,
    /// `None` if the key works without the delay.
    attached_at_ms: Option<i64>,
}

/// All API keys.
pub(crate) struct ApiKeys {
    /// The tier of each usage plan, by the plan's id, which is its logical id.
    tiers: BTreeMap<String, String>,
    clock: Clock,
    /// How long an attached key does not work yet.
    delay: Duration,
    /// By id.
    keys: Mutex<BTreeMap<String, ApiKey>>,
}

impl ApiKeys {
    pub(crate) fn new(plans: &[UsagePlan], clock: Clock, delay: Duration) -> Self {
        let tiers = plans.iter().map(|plan| (plan.logical_id.clone(), plan.tier.clone())).collect();
        Self { tiers, clock, delay, keys: Mutex::default() }
    }

    /// The id of the usage plan of the tier, if the template has one.
    pub(crate) fn plan(&self, tier: &str) -> Option<&str> {
        self.tiers.iter().find(|(_, of_plan)| *of_plan == tier).map(|(plan, _)| plan.as_str())
    }

    /// Creates an enabled key, attaches it to the plan of the tier, and returns its id. The key works without
    /// a delay. An existing key with this value keeps its name and id, and moves to the plan if it has
    /// another one.
    ///
    /// # Errors
    /// If no plan has the tier, or the value is refused.
    pub(crate) fn attach(&self, tier: &str, name: &str, value: &str) -> Result<String, ApiKeyError> {
        let plan = self.plan(tier).ok_or_else(|| {
            ApiKeyError::NotFound(format!("the template has no usage plan of the tier {tier}"))
        })?;
        let id = id_of(value);
        let mut keys = self.lock();
        if keys.get(&id).is_none_or(|existing| existing.value != value) {
            insert(&mut keys, self.new_key(name, value, true)?)?;
        }
        if let Some(key) = keys.get_mut(&id) {
            key.attachment = Some(Attachment { plan: plan.to_owned(), attached_at_ms: None });
        }
        Ok(id)
    }

    /// Creates a key, which belongs to no plan yet.
    ///
    /// # Errors
    /// If there is a key with this value, or the value is too short or too long.
    pub(super) fn create(&self, name: &str, value: &str, enabled: bool) -> Result<ApiKey, ApiKeyError> {
        let key = self.new_key(name, value, enabled)?;
        insert(&mut self.lock(), key.clone())?;
        Ok(key)
    }

    /// Attaches the key to the plan and returns the key.
    ///
    /// # Errors
    /// If the plan or the key does not exist, or the key already has a plan: all plans are for the same
    /// stage, and a key can have only one plan of a stage.
    pub(super) fn attach_to_plan(&self, plan: &str, id: &str) -> Result<ApiKey, ApiKeyError> {
        self.check_plan(plan)?;
        let mut keys = self.lock();
        let key = keys.get_mut(id).ok_or_else(unknown_key)?;
        if let Some(attachment) = &key.attachment {
            return Err(ApiKeyError::Conflict(format!(
                "API key {id} is already attached to the usage plan {}",
                attachment.plan
            )));
        }
        let attached_at_ms = Some(self.clock.now_ms());
        key.attachment = Some(Attachment { plan: plan.to_owned(), attached_at_ms });
        Ok(key.clone())
    }

    pub(super) fn delete(&self, id: &str) -> Result<ApiKey, ApiKeyError> {
        self.lock().remove(id).ok_or_else(unknown_key)
    }

    /// Returns up to `limit` keys whose names begin with `prefix`, ordered by id, from after the id
    /// `position`; and the position of the next page, if there is one.
    pub(super) fn page(
        &self,
        prefix: &str,
        position: Option<&str>,
        limit: usize,
    ) -> (Vec<ApiKey>, Option<String>) {
        let keys = self.lock();
        let start = position.map_or(Bound::Unbounded, Bound::Excluded);
        let mut matching = keys
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(_, key)| key)
            .filter(|key| key.name.starts_with(prefix));
        let page: Vec<_> = matching.by_ref().take(limit).cloned().collect();
        let next = if matching.next().is_some() { page.last().map(|key| key.id.clone()) } else { None };
        (page, next)
    }

    pub(super) fn get(&self, id: &str) -> Result<ApiKey, ApiKeyError> {
        self.lock().get(id).cloned().ok_or_else(unknown_key)
    }

    pub(super) fn of_plan(&self, plan: &str) -> Vec<ApiKey> {
        let keys = self.lock();
        let attached = keys
            .values()
            .filter(|key| key.attachment.as_ref().is_some_and(|attachment| attachment.plan == plan));
        attached.cloned().collect()
    }

    /// Checks that the plan exists.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check_plan(&self, plan: &str) -> Result<(), ApiKeyError> {
        let unknown = || ApiKeyError::NotFound("Invalid Usage Plan ID specified".to_owned());
        self.tiers.get(plan).map(drop).ok_or_else(unknown)
    }

    /// Returns the id of the plan of the key with this value, if the key works: it is enabled, attached, and
    /// the delay is over.
    pub(super) fn plan_of(&self, value: &str) -> Option<String> {
        let keys = self.lock();
        let key = keys.get(&id_of(value)).filter(|key| key.enabled && key.value == value)?;
        let attachment = key.attachment.as_ref()?;
        let delay_ms = i64::try_from(self.delay.as_millis()).unwrap_or(i64::MAX);
        // If the clock was set back, the age is negative, and the key works.
        let is_delayed = attachment
            .attached_at_ms
            .is_some_and(|attached_at_ms| (0..delay_ms).contains(&(self.clock.now_ms() - attached_at_ms)));
        (!is_delayed).then(|| attachment.plan.clone())
    }

    fn new_key(&self, name: &str, value: &str, enabled: bool) -> Result<ApiKey, ApiKeyError> {
        let characters = value.chars().count();
        if !VALUE_CHARACTERS.contains(&characters) {
            let (shortest, longest) = VALUE_CHARACTERS.into_inner();
            return Err(ApiKeyError::BadRequest(format!(
                "the value of an API key must have {shortest} to {longest} characters, not {characters}"
            )));
        }
        Ok(ApiKey {
            id: id_of(value),
            name: name.to_owned(),
            value: value.to_owned(),
            enabled,
            created_at_ms: self.clock.now_ms(),
            attachment: None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ApiKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id of the key with this value: its first characters. On AWS, an id is random. Here, it is the
/// same after a restart, because tables on disk may contain it.
fn id_of(value: &str) -> String {
    value.chars().take(ID_CHARACTERS).collect()
}

fn insert(keys: &mut BTreeMap<String, ApiKey>, key: ApiKey) -> Result<(), ApiKeyError> {
    let message = match keys.get(&key.id) {
        None => {
            keys.insert(key.id.clone(), key);
            return Ok(());
        }
        Some(existing) if existing.value == key.value => "API Key already exists".to_owned(),
        Some(_) => format!(
            "the local cloud has another API key whose value begins with the same {ID_CHARACTERS} characters"
        ),
    };
    Err(ApiKeyError::Conflict(message))
}

fn unknown_key() -> ApiKeyError {
    ApiKeyError::NotFound("Invalid API Key identifier specified".to_owned())
}
